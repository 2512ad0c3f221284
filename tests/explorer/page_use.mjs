/*
 * Use of the explorer's page: keyboard only, work that is cancelled or superseded, narrow screens, dark mode, reduced
 * motion.
 */
import assert from 'node:assert/strict';

import { accessible, browser, goTo, runTests, savedFrom, settled, shot, text } from './page.mjs';

await runTests({
  async 'long work is cancelled, and the page answers meanwhile'() {
    const page = await browser.open('#view=time&torus=16x16x16&most=512M&chart=recdoub');
    await page.waitForSelector('#cancel:not([hidden])');
    await page.click('#views [data-key="network"]');
    await page.click('#views [data-key="time"]');
    await page.waitForSelector('#cancel:not([hidden])');
    await page.click('#cancel');
    assert.match(await text(page, '#running-text'), /cancelled/);
    assert.ok(await page.locator('#cancel').isHidden());
    // a plan that takes a while
    await page.evaluate(() => { location.hash = 'torus=16x16x16&bytes=1G&links=5:%2B0:3x'; });
    await page.click('#stop-picture', { timeout: 60000 });
    await page.waitForFunction(() => /^cancelled/.test(document.getElementById('description').textContent));
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
      reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.key
        || document.activeElement.textContent));
    }
    for (const id of ['network', 'time', 'open', 'theme', 'torus', 'slider-alpha', 'algorithm', 'svg', 'forward',
      'step', 'copy-command'])
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

  async 'only the latest answer is shown; obsolete work stops; the Back button'() {
    const page = await browser.open('#torus=9&algorithm=trivance-l');
    await settled(page);
    await page.evaluate(() => { // a slow request, quick ones, and a slider that is dragged for a long time
      const { body } = document, torus = document.getElementById('torus'),
        slider = document.getElementById('slider-bytes');
      for (const some of ['32x32', '9x', '5x5', '', '27', '4x4'])
        Object.assign(torus, { value: some }).dispatchEvent(new Event('input'));
      for (let i = 0; i < 400; i++) Object.assign(slider, { value: String(i % 20) }).dispatchEvent(new Event('input'));
      body.focus();
    });
    await page.waitForFunction(() => document.querySelectorAll('#svg .disc').length === 16
      && /^32 messages|^\d+ messages/.test(document.getElementById('description').textContent));
    await page.waitForFunction(() => /torus=4x4/.test(location.hash) && /bytes=16M/.test(location.hash));
    await page.waitForFunction(() => /16.0? MiB|MiB/.test(document.getElementById('description').textContent));
    assert.ok(await page.locator('#problem').isHidden());
    // a timeline that takes seconds
    await goTo(page, 'view=time&torus=32x32&chart=recdoub&most=32&timeline=recdoub@512K');
    await page.waitForFunction(() => /simulating/.test(document.getElementById('timeline-text').textContent));
    await page.click('#views [data-key="network"]');
    await page.fill('#torus', '3x81');
    await page.click('#views [data-key="schedule"]');
    await page.waitForFunction(() => document.getElementById('title').textContent.startsWith('trivance-l')
      || /star|hybrid/.test(document.getElementById('title').textContent), null, { timeout: 10000 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight) < 1400, 'the matrix is too tall');
    await page.fill('#torus', '9x');
    await page.click('#views [data-key="why"]');
    await page.waitForFunction(() => /'9x' is not a torus/.test(document.getElementById('problem').textContent));
    await page.goBack();
    assert.ok(await page.locator('#stage').isVisible());
    await page.fill('#torus', '9');
    await page.waitForFunction(() => document.getElementById('problem').hidden); // no problem of the other view
    await page.goBack();
    await page.goBack();
    await page.waitForFunction(() => !document.getElementById('time').hidden && /torus=32x32/.test(location.hash));
  },

  async 'narrow, dark, without motion'() {
    for (const [view, extra] of [['schedule', ''], ['network', ''], ['time', '&most=256K'], ['why', '&torus=9']]) {
      const page = await browser.open(`#view=${view}${extra}`,
        { axe: true, viewport: { width: 390, height: 844 }, colorScheme: 'dark', reducedMotion: 'reduce' });
      if (view === 'schedule') await settled(page);
      if (view === 'time')
        await page.waitForFunction(() => document.getElementById('chart').dataset.done, null, { timeout: 60000 });
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
});
