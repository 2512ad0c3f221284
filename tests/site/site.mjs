/*
 * The documentation site in a browser, on a narrow and a wide screen. Usage: site.mjs FOLDER
 *
 * Every page shows its heading and all pictures, does not scroll sideways, reports nothing on the console, and loads
 * nothing from elsewhere. The search finds a document.
 */
import assert from 'node:assert/strict';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

const { chromium } = createRequire(`${process.env.MODULES}/`)('playwright-core');
const folder = process.argv[2];
const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json',
  '.svg': 'image/svg+xml', '.png': 'image/png' };

const server = createServer((request, response) => {
  const file = join(folder, decodeURIComponent(new URL(request.url, 'http://host').pathname));
  if (!existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'text/plain' });
  createReadStream(file).pipe(response);
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const site = `http://127.0.0.1:${server.address().port}`;

const pages = readdirSync(folder, { recursive: true }).filter(name => name.endsWith('.html') && name !== '404.html')
  .sort();
const browser =
  await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const faults = [];
const page = await browser.newPage();
let name, width = 390;
const report = text => faults.push(`${name} at ${width} pixels: ${text}`);
page.on('console', message => { if (['error', 'warning'].includes(message.type())) report(message.text()); });
page.on('pageerror', error => report(error.message));
page.on('request', request => { if (!request.url().startsWith(site) && !request.url().startsWith('data:'))
  report(`loads ${request.url()}`); });
for (name of pages) {
  await page.goto(`${site}/${name}`);
  for (width of [390, 1400]) {
    await page.setViewportSize({ width, height: 900 });
    const found = await page.evaluate(() => ({
      heading: document.querySelector('h1')?.getBoundingClientRect().width > 0,
      wide: document.documentElement.scrollWidth - innerWidth,
      missing: [...document.images].filter(image => image.complete && image.naturalWidth === 0).map(image => image.src),
    }));
    if (!found.heading) report('has no visible heading');
    if (found.wide > 0) report(`scrolls ${found.wide} pixels sideways`);
    for (const source of found.missing) report(`does not show ${source}`);
  }
}

await page.goto(`${site}/index.html`);
await page.fill('.md-search__input', 'dateline');
await page.waitForSelector('.md-search-result__item');
assert.match(await page.textContent('.md-search-result__list'), /packet simulator/i);

await browser.close();
server.close();
console.log([...faults, `${pages.length} pages, ${faults.length} faults`].join('\n'));
assert.ok(pages.length > 40 && faults.length === 0);
