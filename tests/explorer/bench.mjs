/*
 * Speed of the explorer in headless Chromium: the first picture, the reaction of controls on 9x9, and the chart of five
 * algorithms on larger tori, each compared with its limit. Usage: browser.sh SOURCES BUILD bench.mjs [--strict]
 *
 * A reaction is measured in the page, from the event to the second frame after the picture has changed, when the change
 * is visible; reported are the median and the maximum of many. The processor time of all of the browser's processes is
 * reported, too; on a machine with other load it is the more reliable number. Two idle cores need at least half of it.
 */
import { cpus, loadavg } from 'node:os';

import { launch } from './browser.mjs';

const browser = await launch();
let slow = 0;
const cdp = await browser.inner.newBrowserCDPSession();
let spent = 0;
/** Returns the processor time of all processes since the last call, in ms; for processes that have ended, up to their
 * last measurement. */
const seen = new Map();
async function cpu() {
  for (const one of (await cdp.send('SystemInfo.getProcessInfo')).processInfo) seen.set(one.id, one.cpuTime);
  const all = 1000 * [...seen.values()].reduce((a, b) => a + b, 0), since = all - spent;
  spent = all;
  return since;
}
function report(what, ms, most, more = '') {
  const bad = ms > most;
  slow += bad ? 1 : 0;
  console.log(`${what.padEnd(58)} ${Math.round(ms).toString().padStart(6)} ms   below ${most} ms`
    + `${bad ? '  TOO SLOW' : ''}${more}`);
}
const median = list => [...list].sort((a, b) => a - b)[list.length >> 1];

async function firstPicture() {
  const page = await browser.open('');
  await page.waitForFunction(() => document.querySelector('#svg .path'));
  const ms = await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => resolve(performance.now()))));
  await page.context().close();
  return ms;
}

/* Runs in the page. Waits until the picture has changed, then for two frames. */
const react = ([id, value]) => new Promise(resolve => {
  const svg = document.getElementById('svg'), description = document.getElementById('description'),
    title = document.getElementById('title');
  const before = svg.innerHTML.length + description.textContent + title.textContent
    + svg.querySelector('.path')?.getAttribute('d');
  const node = document.getElementById(id), began = performance.now();
  const changed = () => before !== svg.innerHTML.length + description.textContent + title.textContent
    + svg.querySelector('.path')?.getAttribute('d');
  const look = () => (changed() || performance.now() - began > 3000
    ? requestAnimationFrame(() => resolve(performance.now() - began)) : setTimeout(look, 1));
  if (value === undefined) node.click();
  else {
    node.value = value;
    node.dispatchEvent(new Event(node.id === 'algorithm' ? 'change' : 'input', { bubbles: true }));
  }
  look();
});

async function reactions() {
  const page = await browser.open('#algorithm=trivance-b');
  await page.waitForFunction(() => document.querySelector('#svg .path'));
  await page.waitForTimeout(500);
  const steps = [['step forward', 'forward', [undefined, undefined, undefined, undefined, undefined]],
    ['size dragged', 'slider-bytes', ['3', '8', '15', '18', '9', '12']],
    ['algorithm chosen', 'algorithm',
    ['swing-b', 'bucket', 'recdoub-b', 'bruck-b', 'trivance-l', 'star:l', 'trivance-b']],
    ['torus typed', 'torus', ['9x8', '8x9', '9x7', '7x9', '9x9']]];
  for (const [what, id, values] of steps) {
    const times = [];
    await cpu();
    for (const value of values) times.push(await page.evaluate(react, value === undefined ? [id] : [id, value]));
    report(`9x9, ${what}`, median(times), 100,
      `  (slowest ${Math.round(Math.max(...times))} ms, processor ${Math.round(await cpu() / values.length)} ms each)`);
  }
  await page.evaluate(() => { location.hash = 'algorithm=planned'; });
  await page.waitForTimeout(800);
  const times = [];
  await cpu();
  for (const value of ['3', '14', '5', '16', '7']) times.push(await page.evaluate(react, ['slider-bytes', value]));
  report('9x9, size dragged, planned anew', median(times), 100,
    `  (slowest ${Math.round(Math.max(...times))} ms, processor ${Math.round(await cpu() / 5)} ms each)`);
  await page.context().close();
}

async function chart(torus, most) {
  const page = await browser.open('#view=network&torus=3x3');
  await page.waitForFunction(() => document.querySelector('#svg .disc'));
  await page.waitForTimeout(500);
  const began = Date.now();
  await page.evaluate(hash => { location.hash = hash; }, `view=time&torus=${torus}&most=${most}`);
  await page.waitForFunction(some => document.getElementById('chart').dataset.done?.includes(`"${some}"`), torus,
    { timeout: 300000, polling: 20 });
  return Date.now() - began; // the page stays open, so that its processor time is measured
}

console.log(`${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`);
const first = [], took = [];
for (let i = 0; i < 3; i++) {
  await cpu();
  first.push(await firstPicture());
  took.push(await cpu());
}
report('first picture, 9x9 planned', median(first), 1000,
  `  (slowest ${Math.round(Math.max(...first))} ms, processor ${Math.round(median(took))} ms)`);
await reactions();
for (const [torus, most, bytes, ms] of [['32x32', '8M', '10 sizes to 8 MiB', 2000],
  ['16x16x16', '1M', '5 sizes to 1 MiB', 5000]]) {
  await cpu();
  const wall = await chart(torus, most);
  report(`chart, 5 algorithms, ${torus} fifo, ${bytes}`, wall, ms, `  (processor ${Math.round(await cpu())} ms)`);
}
await browser.close();
process.exit(slow && process.argv.includes('--strict') ? 1 : 0);
