/*
 * The view Why: the plans that came near, what their times are made of, and the network on which they would have won.
 */
import { complain } from './app.js';
import { byId, element } from './dom.js';
import { bytesText, rateText, timeText } from './format.js';
import { bytesOption, networkOptions, questionFor } from './state.js';

/** @typedef {import('./app.js').App} App */
let asked = '';

/** @param {App} app */
export function makeWhy(app) {
  app.views.push(() => {
    const { state } = app, shown = state.view === 'why';
    byId('why').hidden = !shown;
    if (!shown) {
      asked = '';
      app.cancel('why');
      complain('why', null);
      return;
    }
    if (app.file) {
      byId('why-title').textContent = 'Why';
      byId('why-text').textContent = 'The planner plans for a torus; close the file to ask it.';
      byId('reasons').replaceChildren();
      asked = '';
      return;
    }
    byId('why-title').textContent = `Why ${state.torus} plans what it plans for ${bytesText(state.bytes)}`;
    const question = questionFor('plan', state, null, [bytesOption(state), '--why', ...networkOptions(state), '--format=json']);
    const now = app.keyOf(question);
    if (now === asked) return;
    asked = now;
    byId('why-text').replaceChildren('planning … ', element('button', { type: 'button', class: 'quiet', onclick: () => app.cancel('why') }, 'Cancel'));
    const progress = (/** @type {number} */ fraction) => {
      const { firstChild } = byId('why-text');
      if (asked === now && firstChild) firstChild.textContent = `planning, ${Math.round(100 * fraction)} % … `;
    };
    void app.ask('why', question, { pool: app.busy, progress }).then(answer => {
      if (asked !== now) return;
      if (!answer) {
        byId('why-text').textContent = 'cancelled; any change plans again';
        return;
      }
      complain('why', answer.code ? answer : null);
      draw(app, answer.code ? [] : JSON.parse(answer.out));
    });
  });
}

/** @param {any} row */
function wouldWin(row) {
  /** @type {string[]} */ const words = [];
  const say = (/** @type {string} */ how, /** @type {number} */ value, /** @type {string} */ what, /** @type {(v: number) => string} */ text) => {
    if (how) words.push(`${what} ${how} ${text(value)}`);
  };
  say(row.wins_bandwidth, row.bandwidth_bps, 'bandwidth', rateText);
  say(row.wins_alpha, row.alpha_ns, 'alpha', timeText);
  say(row.wins_link_latency, row.link_latency_ns, 'link latency', timeText);
  return words.join('; ') || '–';
}

/** @param {App} app @param {any[]} rows */
function draw(app, rows) {
  const longest = rows.length ? Math.max(...rows.slice(0, 8).map(row => row.time_ns)) : 1; // slower ones go on beyond the bar's end
  const key = (/** @type {string} */ name, /** @type {string} */ text) => [element('span', { class: 'key', style: `background:var(${name})` }), text];
  byId('why-text').replaceChildren(rows.length ? 'Of the time,' : '', ...(rows.length ? [...key('--c2', 'alpha'), ...key('--c6', 'hops'), ...key('--c3', 'transmission')] : []));
  byId('reasons').replaceChildren(
    element('thead', {}, element('tr', {}, ...['Schedule', 'Steps', 'Time', 'Made of', 'Same bits', 'Would win with'].map((text, i) => element('th', { scope: 'col', class: i === 1 || i === 2 ? 'n' : null }, text)))),
    element('tbody', {}, ...rows.map(row => {
      const share = (/** @type {number} */ ns) => `width:${100 * ns / longest}%`;
      return element('tr', { class: row.chosen ? 'chosen' : null },
        element('td', {}, element('button', { type: 'button', title: 'Look at this schedule', onclick: () => app.set({ algorithm: row.algorithm, view: 'schedule', step: 0 }) }, row.algorithm), row.chosen ? ' ← chosen' : ''),
        element('td', { class: 'n' }, String(row.steps)), element('td', { class: 'n', title: `${row.time_ns} ns` }, timeText(row.time_ns)),
        element('td', {}, element('div', { class: row.time_ns > longest ? 'parts more' : 'parts', title: `alpha ${timeText(row.alpha_part_ns)}, hops ${timeText(row.hops_part_ns)}, transmission ${timeText(row.transmission_part_ns)}` },
          element('i', { class: 'alpha', style: share(row.alpha_part_ns) }), element('i', { class: 'hops', style: share(row.hops_part_ns) }), element('i', { class: 'sending', style: share(row.transmission_part_ns) }))),
        element('td', {}, row.consistent ? 'yes' : 'no'), element('td', {}, row.chosen ? '' : wouldWin(row)));
    })));
}
