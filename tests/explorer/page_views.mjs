/*
 * The explorer's views: the schedule, the network, the time, and the reasons for a plan. Their numbers equal the
 * tool's.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { accessible, browser, goTo, inShell, runTests, savedFrom, settled, shot, text, tool } from './page.mjs';

await runTests({
  async 'the schedule: title, steps, arrows, matrix'() {
    const page = await browser.open('#algorithm=trivance-b', { axe: true });
    await settled(page);
    assert.equal(await text(page, '#title'), 'trivance-b');
    assert.equal(await text(page, '#step-text'), 'step 0 of 0–7');
    assert.match(await text(page, '#description'), /^324 messages of up to/);
    assert.match(await text(page, '#legend'),
      /^messages of stream 0.*load of a link.*share of the data that a rank holds/);
    assert.equal(await text(page, '#matrix-legend'), 'noneheld before the stepnew in this step');
    assert.equal(await page.locator('#svg .disc').count(), 81);
    assert.ok(await page.locator('#svg .path').count() >= 4);
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
    await page.waitForFunction(() => document.getElementById('step-text').textContent === 'step 2 of 0–7', null,
      { timeout: 20000 });
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
    await page.waitForFunction(() => document.querySelectorAll('#svg .cut').length === 1);
    const links = await page.locator('#svg .links path[class^=load]')
      .evaluateAll(paths => paths.map(path => path.getAttribute('d')).join('').split('M').length - 1);
    assert.equal(links, 5 * (2 * 5 + 2 * 4) - 2); // without both directions of the link that is cut
    await page.selectOption('[aria-label="Link 7:-0"]', '4');
    assert.match(await text(page, '#links'), /7:-0 is 4 times as slow/);
    await page.waitForFunction(() => document.querySelector('#svg .slow')
      && [...document.querySelectorAll('#svg .mark')].some(mark => mark.textContent === '-0 4x'));
    await accessible(page, 'network');
    await shot(page, 'network');
    await page.click('[aria-label="Restore link 7:+1"]');
    await page.waitForFunction(() => document.querySelectorAll('#svg .cut').length === 0);
    await page.click('[data-key="Ethernet"]');
    assert.match(await text(page, '#command'),
      /--bandwidth=100Gb\/s --alpha=10us --link-latency=500ns --message-overhead=500ns --delivery=tail/);
  },

  async 'a set of nodes, and other parameters of the network'() {
    const page = await browser.open('#torus=4x4&nodes=0-3,5,8&packet=4K&shared-paths=0&links=9:%2B0:cut,10:%2B0:2x');
    await settled(page);
    const options = ['4x4', '--nodes=0-3,5,8', '--bytes=64K', '--packet=4K', '--shared-paths=0', '--cut=9:+0',
      '--slow-link=10:+0:2x'];
    const [best] = JSON.parse(spawnSync(tool, ['plan', ...options, '--format=json'], { encoding: 'utf8' }).stdout);
    assert.equal(await text(page, '#title'), best.plan);
    assert.equal(await page.locator('#svg .idle').count(), 10);
    assert.match(await text(page, '#legend'), /node that the job does not use/);
    assert.equal(await text(page, '#command'), `trivance plan ${options.join(' ')}`);
    await page.locator('#step').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() =>
      /100 % after this step, 6 ranks of 6 complete/.test(document.getElementById('matrix-text').textContent));
    await page.click('#views [data-key="why"]');
    await page.waitForSelector('#reasons .chosen', { timeout: 60000 });
    assert.match(await text(page, '#reasons'), new RegExp(`${best.plan} on a `));
    await page.goto(page.url().replace(/#.*/, '#view=time&most=512&timeline=planned@64K&torus=4x4&nodes=0-3,5,8'
      + '&packet=4K&shared-paths=0&links=9:%2B0:cut,10:%2B0:2x'));
    await page.waitForFunction(() => document.getElementById('chart').dataset.done
      && /packets/.test(document.getElementById('timeline-text').textContent), null, { timeout: 60000 });
    assert.ok((await text(page, '#timeline-text'))
      .includes(`${best.plan}: ${Number((best.time_ns / 1e3).toPrecision(4))} µs`), await text(page, '#timeline-text'));
    const all = 'torus=4x4&bandwidth=123456789000&alpha=1234.5678&model=dateline&packet=4096&shared-paths=0:1'
      + '&buffer=65536&jitter=10%25&seed=7&gamma=0.5ns/stream&routes=fixed&nic-bandwidth=200Gb/s'
      + '&host-latency=77.5ns&router-in=0ns&router-out=1000ns&slow-rank=3:2.5x,4:2x&links=6:%2B1:one-way,9:%2B0:cut';
    await goTo(page, `${all}&view=time&most=32&chart=trivance-l&timeline=trivance-l@32`);
    await page.waitForFunction(() => /dateline/.test(document.getElementById('chart').dataset.done)
      && /packets/.test(document.getElementById('timeline-text').textContent), null, { timeout: 60000 });
    const [row] = JSON.parse(inShell(`${await text(page, '#command')} --format=json`));
    assert.match(await page.getAttribute('#times td button', 'title'), new RegExp(`^trivance-l: ${row.time_ns} ns`));
    assert.match(await text(page, '#command'), /--bandwidth=123.456789Gb\/s --alpha=1.2345678us .*--jitter=10%' /);
    assert.match(await text(page, '#command'),
      /--jitter=10%' .*--slow-rank=3:2.5x --slow-rank=4:2x --cut=6:\+1:one-way --cut=9:\+0/);
    await goTo(page, `${all}&algorithm=trivance-l`);
    await settled(page);
    await page.waitForFunction(() => document.getElementById('title').textContent === 'trivance-l'
      && document.querySelectorAll('#svg .cut').length === 2);
    assert.ok(await page.locator('#problem').isHidden());
    await goTo(page, `${all}&nodes=0-2,5,8&view=time&most=32&timeline=planned@32`);
    await page.waitForFunction(() => /packets/.test(document.getElementById('timeline-text').textContent), null,
      { timeout: 60000 });
    assert.ok(await page.locator('#problem').isHidden(), await text(page, '#problem'));
    await page.click('[aria-label="Default of packet"]');
    assert.equal(await page.inputValue('#nodes'), '0-2,5,8');
    await page.fill('#nodes', '0-3, 99');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /--nodes: '99' is not a node from 0 to 15/.test(document.getElementById('problem')
      .textContent));
    await page.fill('#nodes', '');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() =>
      /--algorithm=trivance,.*planned.*--shared-paths=0:1/.test(document.getElementById('command').textContent));
  },

  async 'numbers: the page shows the output of its command'() {
    const page =
      await browser.open('#view=time&torus=3x4&most=64K&chart=trivance,planned,ring-x,swing&bandwidth=200000000000');
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    const rows = JSON.parse(inShell(`${await text(page, '#command')} --format=json`)); // without the nonexistent name
    assert.ok(rows.length >= 20);
    await page.click('#table-box summary');
    const titles = await page.locator('#times td button').evaluateAll(buttons => buttons.map(button => button.title));
    for (const row of rows) assert.ok(titles.some(title => title.startsWith(`${row.algorithm}: ${row.time_ns} ns;`)),
      `${row.algorithm} ${row.bytes}: ${row.time_ns}`);
    assert.match(await text(page, '#chart-text'), /there is no algorithm 'ring-x'/);
  },

  async 'the time: chart, timeline, scales'() {
    const page = await browser.open('#view=time&torus=3x3&most=1M&chart=trivance,swing,planned', { axe: true });
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    assert.match(await text(page, '#chart-text'), /^The plan: /);
    assert.match(await text(page, '#chart-legend'), /^limit, a lower bound for all schedules/);
    assert.equal(await text(page, '#time-title'), 'Completion time, one queue per link');
    const times = await page.evaluate(() =>
      [...document.querySelectorAll('#times td button')].map(button => Number(/: ([\d.]+) ns/.exec(button.title)[1])));
    const svg = await savedFrom(page, 'svg'), units = { ns: 1, 'µs': 1e3, ms: 1e6 };
    const ticks = [...svg.matchAll(/>([\d.]+) (ns|µs|ms)</g)].map(([, number, unit]) => Number(number) * units[unit]);
    assert.ok(ticks.length > 2 && Math.max(...ticks) < 1.3 * Math.max(...times)
      && Math.max(...ticks) > .3 * Math.max(...times), `${ticks} for ${Math.max(...times)}`);
    const box = await page.locator('.u-over').boundingBox();
    await page.mouse.click(box.x + box.width * .6, box.y + box.height * .6);
    await page.waitForFunction(() => /packets/.test(document.getElementById('timeline-text').textContent));
    await page.waitForFunction(() => /timeline=/.test(location.hash));
    assert.match(await text(page, '#timeline-legend'), /^step 0/);
    await page.locator('#timeline').focus();
    await page.keyboard.press('+');
    await page.click('#timeline-what [data-key="links"]');
    assert.match(await text(page, '#timeline-legend'), /^port \+0port -0port \+1/);
    await page.click('#scale [data-key="relative"]');
    await page.click('#scale [data-key="limit"]');
    await page.click('#model [data-key="dateline"]');
    await page.waitForFunction(() => /dateline/.test(document.getElementById('chart').dataset.done), null,
      { timeout: 60000 });
    assert.match(await text(page, '#time-title'), /two channels per link$/);
    assert.match(await text(page, '#command'), / --model=dateline /);
    await page.click('#table-box summary');
    await accessible(page, 'time');
    await page.click('#table-box summary');
    await shot(page, 'time');
  },

  async 'why: the table, and a runner-up shown as a schedule'() {
    const page = await browser.open('#view=why&torus=8&bytes=64K', { axe: true });
    await page.waitForSelector('#reasons .chosen', { timeout: 60000 });
    const rows =
      JSON.parse(spawnSync(tool, ['plan', '8', '--bytes=64K', '--why', '--format=json'], { encoding: 'utf8' }).stdout);
    assert.equal(await page.locator('#reasons tbody tr').count(), rows.length);
    await accessible(page, 'why');
    await shot(page, 'why');
    await page.locator('#reasons td button').nth(1).click();
    await settled(page);
    assert.equal(await text(page, '#title'), rows[1].algorithm);
  },

  async 'the collectives: the menu, the root, every view, wide and narrow'() {
    for (const width of [1400, 390]) {
      const page = await browser.open('#torus=3x3', { axe: true, viewport: { width, height: 900 } });
      const fits = async view => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width,
        `${view} is wider than ${width} pixels`);
      await settled(page);
      // folded on a narrow page
      if (!await page.locator('#collective').isVisible()) await page.click('#controls summary');
      assert.ok(await page.locator('#root').isHidden()); // AllReduce has none
      await page.selectOption('#collective', 'broadcast');
      await page.fill('#root', '4');
      await page.keyboard.press('Tab');
      await page.waitForFunction(() => /^Broadcast from rank 4/.test(document.getElementById('badges').textContent));
      assert.equal(await text(page, '#command'),
        'trivance plan 3x3 --algorithm=planned --collective=broadcast --root=4 --bytes=64K');
      const [plan] =
        JSON.parse(inShell('trivance plan 3x3 --collective=broadcast --root=4 --bytes=64K --why --format=json'));
      assert.equal(await text(page, '#title'), plan.algorithm);
      assert.match(await text(page, '#matrix-text'), /of 9 complete/);
      await page.locator('#step').focus();
      await page.keyboard.press('End');
      await page.waitForFunction(() =>
        /100 % after this step, 9 ranks of 9 complete/.test(document.getElementById('matrix-text').textContent));
      assert.match(await page.evaluate(() => [...document.querySelectorAll('#algorithms option')].map(option =>
        option.value).join()), /^planned,.*binomial/);
      await accessible(page, `broadcast, ${width} pixels`);
      await fits('broadcast');
      const [form, root] = await Promise.all(['#form', '#root'].map(id => page.locator(id).boundingBox()));
      assert.ok(root.x + root.width <= form.x + form.width, 'the root is within the form');
      await shot(page, `broadcast-${width}`);
      await page.click('#views [data-key="why"]');
      await page.waitForFunction(() => /^Why this schedule of a Broadcast from rank 4/.test(document.getElementById(
        'why-title').textContent) && document.querySelector('#reasons .chosen'), null, { timeout: 60000 });
      assert.equal(await text(page, '#command'), 'trivance plan 3x3 --collective=broadcast --root=4 --bytes=64K --why');
      await fits('why');
      await goTo(page, 'torus=3x3&view=time&most=256K&collective=broadcast&root=4&timeline=trivance-tree@64K');
      await page.waitForFunction(() => document.getElementById('chart').dataset.done
        && /packets/.test(document.getElementById('timeline-text').textContent), null, { timeout: 60000 });
      assert.match(await text(page, '#time-title'), /^Broadcast from rank 4, one queue per link/);
      const chips = await page.locator('.chip').allTextContents();
      for (const name of ['trivance', 'star-tree', 'binomial', 'chain', 'planned'])
        assert.ok(chips.includes(name), `${name} of ${chips}`);
      assert.ok(!chips.includes('swing'), String(chips));
      const command = await text(page, '#command'), rows = JSON.parse(inShell(`${command} --format=json`));
      assert.match(command, /^trivance simulate 3x3 --algorithm=\S*planned --collective=broadcast --root=4 /);
      assert.match(command, /planned --collective=broadcast --root=4 --bytes=32:256K:x4 --model=fifo --limit$/);
      const titles = await page.locator('#times td button').evaluateAll(buttons => buttons.map(button => button.title));
      for (const row of rows.filter(one => one.time_ns !== null)) assert.ok(titles.some(title =>
        title.startsWith(`${row.algorithm}: ${row.time_ns} ns;`)), `${row.algorithm} ${row.bytes}: ${row.time_ns}`);
      assert.match(await savedFrom(page, 'csv'), /\n3x3,broadcast,trivance-tree,trivance,fifo,32,/);
      await accessible(page, `times of a broadcast, ${width} pixels`);
      await fits('time');
      await shot(page, `broadcast-time-${width}`);
      await goTo(page, 'torus=3x3&collective=alltoall');
      await page.waitForFunction(() => /^All-to-All/.test(document.getElementById('badges').textContent)
        && /same number of blocks/.test(document.getElementById('matrix-text').textContent));
      await goTo(page, 'torus=4x4&nodes=0-3,5,8&collective=gather&root=5');
      await page.waitForFunction(() => /^Gather to rank 5/.test(document.getElementById('badges').textContent));
      assert.equal(await text(page, '#command'),
        'trivance plan 4x4 --nodes=0-3,5,8 --collective=gather --root=5 --bytes=64K');
      await page.context().close();
    }
  },

  async 'one file, small'() {
    const bytes = readFileSync(process.env.PAGE).length;
    assert.ok(bytes < 2 << 20, `${bytes} bytes`);
  },
});
