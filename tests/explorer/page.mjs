/*
 * The explorer's page as a user has it: every view and every control, the keyboard alone, narrow, dark, without motion,
 * wrong input, files, and what can be saved. Pictures of all views go to $SHOTS.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { axeSource, launch } from './browser.mjs';

const [tool] = process.argv.slice(2);
const browser = await launch();
const shot = (page, name) => page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
const text = (page, selector) => page.locator(selector).textContent();
const settled = page => page.waitForFunction(() => /step \d+ of 0–/.test(document.getElementById('step-text').textContent));

/** What a command prints that is copied from the page into bash. */
const inShell = command => spawnSync('bash', ['-c', `trivance() { ${tool} "$@"; }; ${command}`], { encoding: 'utf8' }).stdout;
/** The words that a shell makes of a command. */
const wordsOf = command => spawnSync('bash', ['-c', `trivance() { printf '%s\\0' "$@"; }; ${command}`], { encoding: 'utf8', cwd: process.env.SHOTS }).stdout.split('\0').slice(0, -1);
const goTo = (page, hash) => page.evaluate(to => { location.hash = to; }, hash);

async function savedFrom(page, what) {
  await page.click('#save-menu summary');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-save="${what}"]`)]);
  return readFileSync(await download.path(), 'utf8');
}

async function accessible(page, name) {
  await page.addScriptTag({ path: axeSource() });
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(found.violations.map(v => `${v.id}: ${v.nodes.map(node => node.target.join()).join(' ')}`), [], `axe, ${name}`);
}

const tests = {
  async 'the schedule: title, steps, arrows, matrix'() {
    const page = await browser.open('#algorithm=trivance-b', { axe: true });
    await settled(page);
    assert.equal(await text(page, '#title'), 'trivance-b');
    assert.equal(await text(page, '#step-text'), 'step 0 of 0–7');
    assert.match(await text(page, '#said'), /^324 messages of up to/);
    assert.equal(await page.locator('#svg .disc').count(), 81);
    assert.ok(await page.locator('#svg .way').count() >= 4);
    for (let i = 0; i < 3; i++) await page.click('#forward');
    await page.waitForFunction(() => document.getElementById('step-text').textContent === 'step 3 of 0–7');
    await page.click('#back');
    await page.waitForFunction(() => /step=2/.test(location.hash));
    await page.locator('#step').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => document.getElementById('step-text').textContent === 'step 7 of 0–7');
    assert.match(await text(page, '#matrix-text'), /81 ranks of 81 complete/);
    await page.click('#first');
    await page.click('#play');
    await page.waitForFunction(() => document.getElementById('step-text').textContent === 'step 2 of 0–7', null, { timeout: 20000 });
    await page.click('#play');
    await accessible(page, 'schedule');
    await shot(page, 'schedule');
  },

  async 'the network: typed, dragged, links cut and slowed'() {
    const page = await browser.open('#view=network', { axe: true });
    await page.fill('#torus', '4x5m');
    await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 20);
    assert.equal(await text(page, '#title'), 'Network 4×5');
    await page.locator('.dimension input').first().press('ArrowRight');
    await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 25);
    await page.locator('#svg .disc').nth(7).click();
    assert.match(await text(page, '#rank-title'), /Rank 7 at 1, 2/);
    await page.selectOption('[aria-label="Link 7:+1"]', 'Infinity');
    assert.match(await text(page, '#command'), /--cut=7:\+1$/);
    assert.equal(await page.locator('#svg .cut').count(), 2); // both ways
    await page.selectOption('[aria-label="Link 7:-0"]', '4');
    assert.match(await text(page, '#links'), /7:-0 is 4 times as slow/);
    await accessible(page, 'network');
    await shot(page, 'network');
    await page.click('[aria-label="Mend link 7:+1"]');
    assert.equal(await page.locator('#svg .cut').count(), 0);
    await page.click('[data-key="Ethernet"]');
    assert.match(await text(page, '#command'), /--bandwidth=100Gb\/s --alpha=10us --link-latency=500ns --message-overhead=500ns --delivery=tail/);
  },

  async 'numbers: the page shows what the command says that it stands for'() {
    const page = await browser.open('#view=time&torus=3x4&most=64K&chart=trivance,planned,ring-x,swing&bandwidth=200000000000');
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    const rows = JSON.parse(inShell(`${await text(page, '#command')} --format=json`)); // without the name that there is not
    assert.ok(rows.length >= 20);
    await page.click('#table-box summary');
    const titles = await page.locator('#times td button').evaluateAll(buttons => buttons.map(button => button.title));
    for (const row of rows) assert.ok(titles.some(title => title.startsWith(`${row.algorithm}: ${row.time_ns} ns;`)), `${row.algorithm} ${row.bytes}: ${row.time_ns}`);
    assert.match(await text(page, '#chart-text'), /there is no algorithm 'ring-x'/);
  },

  async 'the time: chart, timeline, scales'() {
    const page = await browser.open('#view=time&torus=3x3&most=1M&chart=trivance,swing,planned', { axe: true });
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    assert.match(await text(page, '#chart-text'), /^Dotted: the limit.* The plan: /);
    const box = await page.locator('.u-over').boundingBox();
    await page.mouse.click(box.x + box.width * .6, box.y + box.height * .6);
    await page.waitForFunction(() => /packets/.test(document.getElementById('timeline-text').textContent));
    await page.waitForFunction(() => /timeline=/.test(location.hash));
    await page.locator('#timeline').focus();
    await page.keyboard.press('+');
    await page.click('#timeline-what [data-key="links"]');
    await page.click('#scale [data-key="relative"]');
    await page.click('#scale [data-key="limit"]');
    await page.click('#model [data-key="dateline"]');
    await page.waitForFunction(() => /dateline/.test(document.getElementById('chart').dataset.done), null, { timeout: 60000 });
    await page.click('#table-box summary');
    await accessible(page, 'time');
    await page.click('#table-box summary');
    await shot(page, 'time');
  },

  async 'why: the table, and a runner-up looked at'() {
    const page = await browser.open('#view=why&torus=8&bytes=64K', { axe: true });
    await page.waitForSelector('#reasons .chosen', { timeout: 60000 });
    const rows = JSON.parse(spawnSync(tool, ['plan', '8', '--bytes=64K', '--why', '--format=json'], { encoding: 'utf8' }).stdout);
    assert.equal(await page.locator('#reasons tbody tr').count(), rows.length);
    await accessible(page, 'why');
    await shot(page, 'why');
    await page.locator('#reasons td button').nth(1).click();
    await settled(page);
    assert.equal(await text(page, '#title'), rows[1].algorithm);
  },

  async 'long work is cancelled, and the page answers meanwhile'() {
    const page = await browser.open('#view=time&torus=16x16x16&most=512M&chart=recdoub');
    await page.waitForSelector('#cancel:not([hidden])');
    await page.click('#views [data-key="network"]');
    await page.click('#views [data-key="time"]');
    await page.waitForSelector('#cancel:not([hidden])');
    await page.click('#cancel');
    assert.match(await text(page, '#running-text'), /cancelled/);
    assert.ok(await page.locator('#cancel').isHidden());
    await page.evaluate(() => { location.hash = 'torus=16x16x16&bytes=1G&links=5:%2B0:3x'; }); // a plan that takes a while
    await page.click('#stop-picture', { timeout: 60000 });
    await page.waitForFunction(() => /^cancelled/.test(document.getElementById('said').textContent));
    for (const says of ['Cancel the schedule', 'Schedule as JSON']) { // the same plan, to be saved
      await page.click('#save-menu summary');
      await page.click('[data-save="json"]');
      await page.waitForFunction(some => document.querySelector('[data-save="json"]').textContent === some, says);
    }
  },

  async 'the keyboard alone'() {
    const page = await browser.open('#torus=3x3&algorithm=trivance-l');
    await settled(page);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    const reached = new Set();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.key || document.activeElement.textContent));
    }
    for (const id of ['network', 'time', 'open', 'theme', 'torus', 'slider-alpha', 'algorithm', 'svg', 'forward', 'step', 'copy-command'])
      assert.ok(reached.has(id), `Tab does not reach ${id}`);
    await page.locator('#svg').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    assert.match(await text(page, '#rank-title'), /Rank 4 at 1, 1/);
    await page.keyboard.press('.');
    await page.waitForFunction(() => document.getElementById('step-text').textContent === 'step 1 of 0–1');
    await page.keyboard.press('Escape');
    assert.equal(await text(page, '#rank-title'), 'The network');
  },

  async 'wrong input: the tool’s own sentences'() {
    const page = await browser.open('');
    await settled(page);
    const sentence = (...words) => spawnSync(tool, words, { encoding: 'utf8' }).stderr.trim().replace(/^trivance \w+: /, '');
    for (const [torus, algorithm] of [['9x', 'planned'], ['9', 'trivance-z'], ['4x4', 'ring'], ['99999x99999', 'trivance-l']]) {
      await page.evaluate(hash => { location.hash = hash; }, `torus=${torus}&algorithm=${algorithm}`);
      const wanted = sentence('plan', torus, `--algorithm=${algorithm}`);
      await page.waitForFunction(some => document.getElementById('problem').textContent.includes(some), wanted);
    }
    await shot(page, 'wrong');
    await page.evaluate(() => { location.hash = 'torus=3x3x3x3'; });
    await page.waitForFunction(() => /AllReduce of 64 KiB/.test(document.getElementById('text').textContent));
    assert.equal(await text(page, '#problem'), '');
    await page.evaluate(() => { location.hash = 'torus=128x128&algorithm=trivance-b'; });
    await page.waitForFunction(() => /rank/.test(document.getElementById('text').textContent) && document.getElementById('title').textContent === 'trivance-b', null, { timeout: 60000 });
  },

  async 'files: a good schedule, a wrong one with its first fault, no schedule'() {
    const page = await browser.open('');
    await settled(page);
    const good = spawnSync(tool, ['plan', '2x4', '--algorithm=swing-b', '--format=json'], { encoding: 'utf8' }).stdout;
    const open = (name, content) => page.setInputFiles('#file', { name, mimeType: 'application/json', buffer: Buffer.from(content) });
    await open('swing.json', good);
    await page.waitForFunction(() => /exact: proved/.test(document.getElementById('badges').textContent));
    assert.equal(await page.locator('#svg .disc').count(), 8);
    await page.click('#views [data-key="time"]');
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    assert.match(await text(page, '#command'), /^trivance simulate --schedule=swing.json/);
    const lines = good.replace('"symmetry": "parity"', '"symmetry": "none"').split('\n'), at = lines.findIndex(line => /^ {3}\[1,/.test(line));
    await open('wrong.json', lines.filter((_, i) => i !== at).join('\n'));
    await page.waitForSelector('#svg .fault');
    assert.match(await text(page, '#badges'), /wrong/);
    assert.match(await text(page, '#problem'), /rank/);
    await shot(page, 'fault');
    await open('wrong.json', good); // the same name
    await page.waitForFunction(() => /exact: proved/.test(document.getElementById('badges').textContent));
    assert.equal(await text(page, '#problem'), '');
    await open('none.json', '{"format": 7');
    await page.waitForFunction(() => /it is not JSON/.test(document.getElementById('problem').textContent));
    assert.match(await text(page, '#title'), /from wrong.json/); // what was shown stays
    await page.click('#forward');
    await page.waitForFunction(() => document.getElementById('problem').hidden);
    await open('bom.json', `\ufeff${good}`);
    await page.waitForFunction(() => /it is not JSON/.test(document.getElementById('problem').textContent));
    await open("it's $(x).json", good);
    await page.waitForFunction(() => /from it's/.test(document.getElementById('title').textContent));
    assert.deepEqual(wordsOf(await text(page, '#command')), ['plan', "--schedule=it's $(x).json"]);
    await open('slow.json', `{${Array.from({ length: 60000 }, (_, i) => `"k${i}": 0`)}}`); // takes seconds
    await page.click('#stop-file');
    assert.match(await text(page, '#file-card'), /it's/);
    await open('large.json', spawnSync(tool, ['plan', '20x20', '--algorithm=trivance-l', '--format=json'], { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout);
    await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 400, null, { timeout: 20000 });
    await page.click('#forward');
    await page.waitForFunction(() => /^step 1 of/.test(document.getElementById('step-text').textContent) && /messages of up to/.test(document.getElementById('said').textContent));
    await page.evaluate(content => {
      const data = new DataTransfer();
      data.items.add(new File([content], 'dropped.json'));
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: data }));
    }, good);
    await page.waitForFunction(() => /dropped.json/.test(document.getElementById('title').textContent));
    await page.click('text=Close the file');
    await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 81);
  },

  async 'saving: SVG, CSV, the schedule, the command'() {
    const page = await browser.open('#torus=9&algorithm=trivance-l');
    await settled(page);
    const saved = what => savedFrom(page, what), svg = await saved('svg');
    assert.match(svg, /^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.ok(!/var\(|color|class=|NaN/.test(svg), 'the picture needs what drawing programs do not know');
    assert.ok(svg.includes('fill="#0f7a52"') && svg.split('<circle').length === 10);
    const json = await saved('json');
    assert.equal(json, spawnSync(tool, ['plan', '9', '--algorithm=trivance-l', '--bytes=64K', '--format=json'], { encoding: 'utf8' }).stdout);
    await page.click('#views [data-key="time"]');
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    assert.match(await saved('csv'), /^torus,algorithm,chosen_for,model,bytes,time_ns,limit_ns\n9,trivance-l,trivance,fifo,32,/);
    const chart = await saved('svg');
    assert.ok(chart.split('<polyline').length > 5 && !/NaN|undefined/.test(chart));
    for (const one of [svg, chart]) await page.evaluate(source => new Promise((good, bad) => {
      const image = Object.assign(new Image(), { onload: good, onerror: () => bad(new Error('no picture')) });
      image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
    }), one);
    await page.click('#copy-command');
    await page.waitForFunction(() => /copied/.test(document.getElementById('toast').textContent));
    await page.setInputFiles('#file', { name: 'saved again.json', mimeType: '', buffer: Buffer.from(json) });
    await page.waitForFunction(() => /^trivance-l from saved again.json/.test(document.getElementById('title').textContent));
    assert.equal(await text(page, '#command'), "trivance plan '--schedule=saved again.json'");
  },

  async 'addresses that anybody may have written'() {
    const page = await browser.open('');
    await settled(page);
    page.on('dialog', dialog => { browser.complaints.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
    const hostile = ["a'b;touch x;'", '$(touch x)', '`x`', '--help', '-o', '<img src=x onerror=alert(1)>', '"', '\\', '!!', '~', '*', 'a\u0000b', 'a\nb', '', '__proto__', 'constructor', 'x'.repeat(9999)];
    for (const some of hostile) {
      const plain = some.replace(/[\0\n]/, '').slice(0, 400), word = encodeURIComponent(some);
      await goTo(page, `torus=${word}&algorithm=${word}`);
      await page.waitForFunction(value => ['torus', 'algorithm'].every(id => document.getElementById(id).value === value) && !document.getElementById('problem').hidden, plain);
      const words = wordsOf(await text(page, '#command'));
      assert.ok(words.includes(plain) && words.includes(`--algorithm=${plain}`), `${some}: ${await text(page, '#command')}`);
      assert.equal(await text(page, '#algorithm-hint'), '');
    }
    for (const hash of ['step=-5', 'step=1.5&rank=-7', 'step=1e300', 'rank=1.5&torus=40x40&algorithm=ring', 'view=nonsense&scale=x&layout=<b>&model=x&delivery=x', '__proto__=1&constructor=2&toString',
      '%', '%zz=1', 'torus=%E0%A4%A', 'torus=1', 'torus=1x1x1&step=3', 'links=1:%2B0:1.2.3x', 'most=1024T&bytes=0']) {
      await goTo(page, 'torus=4x4&algorithm=trivance-l');
      await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 16 && document.getElementById('title').textContent === 'trivance-l');
      await goTo(page, hash);
      await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length !== 16 && /^(step \d of|no steps)/.test(document.getElementById('step-text').textContent)
        || !document.getElementById('problem').hidden, null, { timeout: 10000 }).catch(() => assert.fail(hash));
      assert.ok(await page.locator('#stage').isVisible(), hash);
    }
    await goTo(page, `view=time&torus=9&most=1K&timeline=<b>@1K&chart=constructor,__proto__,trivance,trivance,${Array.from({ length: 500 }, (_, i) => `x${i}`)}`);
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 20000 });
    assert.equal(await page.locator('.chip').count(), 21); // 16 of them, and those that are offered
    assert.match(await text(page, '#timeline-text'), /there is no algorithm '<b>'/);
  },

  async 'the last question’s answer is shown; what is left behind stops; back goes back'() {
    const page = await browser.open('#torus=9&algorithm=trivance-l');
    await settled(page);
    await page.evaluate(() => { // a slow question, quick ones, a slider that is dragged for long
      const { body } = document, torus = document.getElementById('torus'), slider = document.getElementById('slider-bytes');
      for (const some of ['32x32', '9x', '5x5', '', '27', '4x4']) Object.assign(torus, { value: some }).dispatchEvent(new Event('input'));
      for (let i = 0; i < 400; i++) Object.assign(slider, { value: String(i % 20) }).dispatchEvent(new Event('input'));
      body.focus();
    });
    await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 16 && /^32 messages|^\d+ messages/.test(document.getElementById('said').textContent));
    await page.waitForFunction(() => /torus=4x4/.test(location.hash) && /bytes=16M/.test(location.hash));
    await page.waitForFunction(() => /16.0? MiB|MiB/.test(document.getElementById('said').textContent));
    assert.ok(await page.locator('#problem').isHidden());
    await goTo(page, 'view=time&torus=32x32&chart=recdoub&most=32&timeline=recdoub@512K'); // a timeline that takes seconds
    await page.waitForFunction(() => /simulating/.test(document.getElementById('timeline-text').textContent));
    await page.click('#views [data-key="network"]');
    await page.fill('#torus', '3x81');
    await page.click('#views [data-key="schedule"]');
    await page.waitForFunction(() => document.getElementById('title').textContent.startsWith('trivance-l') || /star|hybrid/.test(document.getElementById('title').textContent), null, { timeout: 3000 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight) < 1400, 'the matrix is too tall');
    await page.fill('#torus', '9x');
    await page.click('#views [data-key="why"]');
    await page.waitForFunction(() => /'9x' is not a torus/.test(document.getElementById('problem').textContent));
    await page.goBack();
    assert.ok(await page.locator('#stage').isVisible());
    await page.fill('#torus', '9');
    await page.waitForFunction(() => document.getElementById('problem').hidden); // nothing of the other view's
    await page.goBack();
    await page.goBack();
    await page.waitForFunction(() => !document.getElementById('time').hidden && /torus=32x32/.test(location.hash));
  },

  async 'narrow, dark, without motion'() {
    for (const [view, extra] of [['schedule', ''], ['network', ''], ['time', '&most=256K'], ['why', '&torus=9']]) {
      const page = await browser.open(`#view=${view}${extra}`, { axe: true, viewport: { width: 390, height: 844 }, colorScheme: 'dark', reducedMotion: 'reduce' });
      if (view === 'schedule') await settled(page);
      if (view === 'time') await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
      if (view === 'time') assert.match(await savedFrom(page, 'svg'), />32<.*>512<.*>8K</, 'the names of the sizes');
      if (view === 'why') await page.waitForSelector('#reasons .chosen', { timeout: 60000 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `${view} is ${wide} pixels wide`);
      assert.equal(await page.locator('.playing').count(), 0);
      await accessible(page, `${view}, narrow and dark`);
      await shot(page, `narrow-${view}`);
      await page.context().close();
    }
  },

  async 'one file, small'() {
    const bytes = readFileSync(process.env.PAGE).length;
    assert.ok(bytes < 2 << 20, `${bytes} bytes`);
  },
};

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  if (process.argv[3] && !name.includes(process.argv[3])) continue;
  const began = performance.now();
  try {
    await run();
    assert.deepEqual(browser.complaints, []);
    console.log(`good  ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    failed++;
    browser.complaints.length = 0;
    console.log(`WRONG ${name}\n${error.message}\n${error.stack?.split('\n').find(line => line.includes('page.mjs'))}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
