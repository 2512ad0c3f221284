/*
 * The explorer in a browser, for the tests and the benchmark. Console messages of the page, and the addresses from
 * which it loads anything, are recorded.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.MODULES}/`);
const { chromium } = require('playwright-core');

export const axeSource = () => require.resolve('axe-core/axe.min.js');
export const address = hash => pathToFileURL(process.env.PAGE).href + hash;

/** Starts a browser; the result opens pages in it. */
export async function launch() {
  const browser =
    await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const complaints = [];
  async function open(hash = '', options = {}) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true,
      bypassCSP: options.axe ?? false, ...options });
    const page = await context.newPage();
    page.on('console',
      message => { if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`); });
    page.on('pageerror', error => complaints.push(`exception: ${error.message}`));
    page.on('request',
      request => { if (/^(https?|ws)/.test(request.url())) complaints.push(`request: ${request.url()}`); });
    await page.goto(address(hash));
    return page;
  }
  return { open, complaints, inner: browser, close: () => browser.close() };
}
