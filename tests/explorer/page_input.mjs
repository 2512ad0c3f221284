/*
 * Input and output of the explorer's page: wrong input, schedule files, hostile addresses, and saved files.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

import { browser, goTo, runTests, savedFrom, settled, shot, text, tool, wordsOf } from './page.mjs';

await runTests({
  async 'invalid input: the error messages of the tool'() {
    const page = await browser.open('');
    await settled(page);
    const sentence = (...words) => spawnSync(tool, words, { encoding: 'utf8' }).stderr.trim()
      .replace(/^trivance \w+: /, '');
    for (const [torus, algorithm] of [['9x', 'planned'], ['9', 'trivance-z'], ['4x4', 'ring'],
      ['99999x99999', 'trivance-l']]) {
      await page.evaluate(hash => { location.hash = hash; }, `torus=${torus}&algorithm=${algorithm}`);
      const wanted = sentence('plan', torus, `--algorithm=${algorithm}`);
      await page.waitForFunction(some => document.getElementById('problem').textContent.includes(some), wanted);
    }
    await shot(page, 'wrong');
    await page.evaluate(() => { location.hash = 'torus=3x3x3x3'; });
    await page.waitForFunction(() => /AllReduce of 64 KiB/.test(document.getElementById('text').textContent));
    assert.equal(await text(page, '#problem'), '');
    await page.evaluate(() => { location.hash = 'torus=128x128&algorithm=trivance-b'; });
    await page.waitForFunction(() => /rank/.test(document.getElementById('text').textContent)
      && document.getElementById('title').textContent === 'trivance-b', null, { timeout: 60000 });
  },

  async 'files: a good schedule, a wrong one with its first fault, no schedule'() {
    const page = await browser.open('');
    await settled(page);
    const good = spawnSync(tool, ['plan', '2x4', '--algorithm=swing-b', '--format=json'], { encoding: 'utf8' }).stdout;
    const open = (name, content) => page.setInputFiles('#file',
      { name, mimeType: 'application/json', buffer: Buffer.from(content) });
    await open('swing.json', good);
    await page.waitForFunction(() => /exact: proved/.test(document.getElementById('badges').textContent));
    assert.equal(await page.locator('#svg .disc').count(), 8);
    await page.click('#views [data-key="time"]');
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    assert.match(await text(page, '#command'), /^trivance simulate --schedule=swing.json/);
    const lines = good.replace('"symmetry": "parity"', '"symmetry": "none"').split('\n'),
      at = lines.findIndex(line => /^ {3}\[1,/.test(line));
    await open('wrong.json', lines.filter((_, i) => i !== at).join('\n'));
    await page.waitForSelector('#svg .fault');
    assert.match(await text(page, '#badges'), /wrong/);
    assert.match(await text(page, '#problem'), /rank/);
    assert.match(await text(page, '#legend'), /rank with the first fault/);
    assert.equal(await text(page, '#command'), 'trivance plan --schedule=wrong.json --unchecked');
    assert.match(await text(page, '#file-card'), /The address of the page does not contain the file/);
    assert.match(await page.getAttribute('#copy-link', 'title'), /but not the opened file$/);
    await page.click('#copy-link');
    await page.waitForFunction(() => /does not contain the opened file/.test(document.getElementById('toast')
      .textContent));
    await page.click('#views [data-key="time"]');
    await page.waitForFunction(() => /planned|µs/.test(document.getElementById('times').textContent), null,
      { timeout: 60000 });
    assert.match(await text(page, '#command'), /^trivance simulate --schedule=wrong.json --unchecked /);
    await page.click('#views [data-key="schedule"]');
    await shot(page, 'fault');
    await open('wrong.json', good); // the same name
    await page.waitForFunction(() => /exact: proved/.test(document.getElementById('badges').textContent));
    assert.equal(await text(page, '#problem'), '');
    await open('none.json', '{"format": 7');
    await page.waitForFunction(() => /not valid JSON/.test(document.getElementById('problem').textContent));
    assert.match(await text(page, '#title'), /from wrong.json/); // the previous content is still shown
    await page.click('#forward');
    await page.waitForFunction(() => document.getElementById('problem').hidden);
    await open('bom.json', `\ufeff${good}`);
    // a byte order mark
    await page.waitForFunction(() => /from bom.json/.test(document.getElementById('title').textContent));
    await open("it's $(x).json", good);
    await page.waitForFunction(() => /from it's/.test(document.getElementById('title').textContent));
    assert.deepEqual(wordsOf(await text(page, '#command')), ['plan', "--schedule=it's $(x).json"]);
    // takes seconds
    await open('slow.json', spawnSync(tool, ['plan', '18x18', '--algorithm=bucket', '--format=json'],
      { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout);
    await page.click('#stop-file');
    assert.match(await text(page, '#file-card'), /it's/);
    await open('large.json', spawnSync(tool, ['plan', '20x20', '--algorithm=trivance-l', '--format=json'],
      { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout);
    await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 400, null, { timeout: 20000 });
    await page.click('#forward');
    await page.waitForFunction(() => /^step 1 of/.test(document.getElementById('step-text').textContent)
      && /messages of up to/.test(document.getElementById('description').textContent));
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
    const [, colour] = /stroke="(#[0-9a-f]+)"[^>]*>\n<path [^>]*fill="\1"/.exec(spawnSync(tool,
      ['plan', '9', '--algorithm=trivance-l', '--format=svg'], { encoding: 'utf8' }).stdout); // of the arrows
    assert.ok(svg.includes(`fill="${colour}"`) && svg.split('<circle').length === 10);
    const json = await saved('json');
    assert.equal(json, spawnSync(tool, ['plan', '9', '--algorithm=trivance-l', '--bytes=64K', '--format=json'],
      { encoding: 'utf8' }).stdout);
    await page.click('#views [data-key="time"]');
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
    assert.match(await saved('csv'),
      /^torus,collective,algorithm,chosen_for,model,bytes,time_ns,limit_ns\n9,allreduce,trivance-l,trivance,fifo,32,/);
    const chart = await saved('svg');
    assert.ok(chart.split('<polyline').length > 5 && !/NaN|undefined/.test(chart));
    for (const one of [svg, chart]) await page.evaluate(source => new Promise((good, bad) => {
      const image = Object.assign(new Image(), { onload: good, onerror: () => bad(new Error('no picture')) });
      image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
    }), one);
    await page.click('#copy-command');
    await page.waitForFunction(() => /copied/.test(document.getElementById('toast').textContent));
    await page.setInputFiles('#file', { name: 'saved again.json', mimeType: '', buffer: Buffer.from(json) });
    await page.waitForFunction(() => /^trivance-l from saved again.json/.test(document.getElementById('title')
      .textContent));
    assert.equal(await text(page, '#command'), "trivance plan '--schedule=saved again.json'");
  },

  async 'hostile addresses'() {
    const page = await browser.open('');
    await settled(page);
    page.on('dialog', dialog => { browser.complaints.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
    const hostile = ["a'b;touch x;'", '$(touch x)', '`x`', '--help', '-o', '<img src=x onerror=alert(1)>', '"', '\\',
      '!!', '~', '*', 'a\u0000b', 'a\nb', '', '__proto__', 'constructor', 'x'.repeat(400)];
    for (const some of hostile) {
      const plain = some.replace(/[\0\n]/, ''), word = encodeURIComponent(some);
      await goTo(page, `torus=${word}&algorithm=${word}`);
      await page.waitForFunction(value => ['torus', 'algorithm'].every(id => document.getElementById(id)
        .value === value) && !document.getElementById('problem').hidden, plain);
      const words = wordsOf(await text(page, '#command'));
      assert.ok(words.includes(plain) && words.includes(`--algorithm=${plain}`),
        `${some}: ${await text(page, '#command')}`);
      assert.equal(await text(page, '#algorithm-hint'), '');
    }
    const wrong = {
      'foo=1&torus=5': 'unknown: “foo=1”; expected KEY=VALUE with the keys torus, algorithm,',
      'torus': 'unknown: “torus”;', 'bytes=64Q': 'bytes is “64Q”, expected a size from 1 to 1024T, for example 64K',
      'most=0': 'most is “0”, expected a size', 'model=fifi': 'model is “fifi”, expected fifo, dateline',
      'view=clock&scale=log': 'view is “clock”, expected schedule, network, time, why; '
        + 'scale is “log”, expected time, limit, relative',
      'bandwidth=800Gb/s': 'bandwidth is “800Gb/s”, expected bits per second, for example 8e11',
      'bandwidth=0': 'bandwidth is “0”', 'alpha=-1': 'alpha is “-1”, expected nanoseconds',
      'latency=1e99': 'latency is',
      'collective=sum': 'collective is “sum”, expected allreduce, reduce-scatter, allgather, broadcast, reduce, '
        + 'scatter, gather, alltoall',
      'root=3': 'root is “3”, expected none, because AllReduce has no root',
      'collective=gather&root=81': 'root is “81”, expected 0 to 80 on 9x9',
      'collective=reduce&root=x': 'root is “x”, expected a whole number from 0',
      'collective=broadcast&algorithm=trivance-l': 'trivance-l',
      'rank=81': 'rank is “81”, expected 0 to 80 on 9x9', 'rank=x': 'rank is “x”, expected a whole number from 0',
      'step=99&algorithm=trivance-l': 'the address has step 99, expected 0 to 3 of trivance-l',
      'chart=all': 'chart is “all”, expected up to 16 names', 'torus=9,9': 'there are 2 tori: expected one',
      'torus=9&algorithm=ring,bucket': 'there are several algorithms: expected one',
      'links=1:0:cut': 'links is “1:0:cut”, expected up to 100 links, for example 3:+0:cut,4:+0:one-way,5:-1:4x',
      'links=1:%2B0:cut,1:%2B1:slow': 'links is', 'links=999:%2B0:cut': '--cut: no link leaves rank 999',
      'nodes=0-': 'nodes is “0-”, expected nodes and ranges of nodes, for example 0-9,16',
      'nodes=0-99': "--nodes: '0-99' is not a node from 0 to 80", 'nodes=3,3': 'node 3 is listed twice',
      'packet=1': '--packet: ', 'packet=': 'packet is “”',
      'shared-paths=7': 'the torus 9x9 has no dimension 7 for shared paths; its last one is 1',
      'timeline=9': 'timeline is “9”',
      'torus=%E0%A4%A': 'torus is “%E0%A4%A”, expected a torus', [`torus=${'9'.repeat(500)}`]: 'torus is “9999',
      'gamma=x': '--gamma', 'routes=any': '--routes',
      'buffer=65536&view=time': 'a finite buffer requires the model dateline', 'jitter=2&view=time&most=32': '--jitter',
    };
    for (const [hash, sentence] of Object.entries(wrong)) {
      await goTo(page, 'torus=4x4&algorithm=trivance-l');
      await page.waitForFunction(() => document.getElementById('problem').hidden);
      await goTo(page, hash);
      await page.waitForFunction(some => document.getElementById('problem').textContent.includes(some), sentence,
        { timeout: 10000 })
        .catch(async () => assert.fail(`${hash}: “${await text(page, '#problem')}” instead of “${sentence}”`));
      assert.ok(!(await text(page, '#problem')).includes('\n'));
    }
    await page.fill('#torus', '9'); // a change of the page removes the sentence about the address
    await goTo(page, 'view=clock');
    await page.waitForFunction(() => !document.getElementById('problem').hidden);
    await page.locator('#slider-bytes').press('ArrowRight');
    await page.waitForFunction(() => document.getElementById('problem').hidden);
    for (const hash of ['step=-5', 'step=1.5&rank=-7', 'step=1e300', 'rank=1.5&torus=40x40&algorithm=ring',
      'view=nonsense&scale=x&layout=<b>&model=x&delivery=x', '__proto__=1&constructor=2&toString',
      '%', '%zz=1', 'torus=%E0%A4%A', 'torus=1', 'torus=1x1x1&step=3', 'links=1:%2B0:1.2.3x', 'most=1024T&bytes=0']) {
      await goTo(page, 'torus=4x4&algorithm=trivance-l');
      await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 16
        && document.getElementById('title').textContent === 'trivance-l');
      await goTo(page, hash);
      await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length !== 16
        && /^(step \d of|no steps)/.test(document.getElementById('step-text').textContent)
        || !document.getElementById('problem').hidden, null, { timeout: 10000 }).catch(() => assert.fail(hash));
      assert.ok(await page.locator('#stage').isVisible(), hash);
    }
    const many = Array.from({ length: 500 }, (_, i) => `x${i}`);
    await goTo(page, `view=time&torus=9&most=1K&timeline=<b>@1K&chart=constructor,__proto__,trivance,trivance,${many}`);
    await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 20000 });
    assert.equal(await page.locator('.chip').count(), 21); // 16 of them, and the suggested ones
    await page.waitForFunction(() => !document.getElementById('timeline-text').textContent.startsWith('simulating'),
      null, { timeout: 20000 });
    assert.match(await text(page, '#timeline-text'), /there is no algorithm '<b>'/);
  },
});
