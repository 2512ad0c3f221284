/*
 * Functions that the tests of the explorer's page share: the browser, texts of the page, saved files, accessibility,
 * and the test runner. Pictures of all views are written to $SHOTS. Usage of a test: node page_TOPIC.mjs TRIVANCE [PART
 * OF A NAME]
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { axeSource, launch } from './browser.mjs';

export const [tool] = process.argv.slice(2);
export const browser = await launch();
export const shot = (page, name) => page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
export const text = (page, selector) => page.locator(selector).textContent();
export const settled = page =>
  page.waitForFunction(() => /step \d+ of 0–/.test(document.getElementById('step-text').textContent));

/** Returns the output in bash of a command copied from the page. */
export const inShell = command => spawnSync('bash', ['-c', `trivance() { "${tool}" "$@"; }; ${command}`],
  { encoding: 'utf8' }).stdout;
/** Returns the words into which a shell splits a command. */
export const wordsOf = command => spawnSync('bash', ['-c', `trivance() { printf '%s\\0' "$@"; }; ${command}`],
  { encoding: 'utf8', cwd: process.env.SHOTS }).stdout.split('\0').slice(0, -1);
export const goTo = (page, hash) => page.evaluate(to => { location.hash = to; }, hash);

export async function savedFrom(page, what) {
  await page.click('#save-menu summary');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-save="${what}"]`)]);
  return readFileSync(await download.path(), 'utf8');
}

export async function accessible(page, name) {
  await page.addScriptTag({ path: axeSource() });
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(found.violations.map(v => `${v.id}: ${v.nodes.map(node => node.target.join()).join(' ')}`), [],
    `axe, ${name}`);
}

/** Runs all tests, or those whose names contain the argument that follows the tool, and exits. */
export async function runTests(tests) {
  let failed = 0;
  for (const [name, run] of Object.entries(tests)) {
    if (process.argv[3] && !name.includes(process.argv[3])) continue;
    const began = performance.now();
    for (const context of browser.inner.contexts()) await context.close(); // pages that the previous test left open
    try {
      await run();
      assert.deepEqual(browser.complaints, []);
      console.log(`good  ${name} (${Math.round(performance.now() - began)} ms)`);
    } catch (error) {
      failed++;
      browser.complaints.length = 0;
      console.log(`WRONG ${name}\n${error.message}\n${error.stack?.split('\n').find(line => line.includes('page_'))}`);
    }
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
}
