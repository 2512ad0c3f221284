/*
 * The view Why: the runners-up to the plan, the parts of their times, and the networks on which they would be fastest.
 */
import { showProblem } from './app.js';
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
      showProblem('why', null);
      return;
    }
    if (app.file) {
      byId('why-title').textContent = 'Why';
      byId('why-text').textContent = 'The planner selects a schedule for a torus; close the file to use it.';
      byId('reasons').replaceChildren();
      asked = '';
      return;
    }
    byId('why-title').textContent = `Why this schedule for ${state.torus} and ${bytesText(state.bytes)}`;
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
        byId('why-text').textContent = 'cancelled; any change restarts it';
        return;
      }
      showProblem('why', answer.code ? answer : null);
      draw(app, answer.code ? [] : JSON.parse(answer.out));
    });
  });
}

/** @param {any} row */
function wouldWin(row) {
  /** @type {string[]} */ const words = [];
  const add = (/** @type {string} */ how, /** @type {number} */ value, /** @type {string} */ what, /** @type {(v: number) => string} */ text) => {
    if (how) words.push(`${what} ${how} ${text(value)}`);
  };
  add(row.wins_bandwidth, row.bandwidth_bps, 'bandwidth', rateText);
  add(row.wins_alpha, row.alpha_ns, 'alpha', timeText);
  add(row.wins_link_latency, row.link_latency_ns, 'link latency', timeText);
  return words.join('; ') || '–';
}

/** @param {App} app @param {any[]} rows */
function draw(app, rows) {
  const longest = rows.length ? Math.max(...rows.slice(0, 8).map(row => row.time_ns)) : 1; // slower ones extend beyond the end of the bar
  const key = (/** @type {string} */ name, /** @type {string} */ text) => [element('span', { class: 'key', style: `background:var(${name})` }), text];
  byId('why-text').replaceChildren(rows.length ? 'Parts of the time:' : '', ...(rows.length ? [...key('--c2', 'alpha'), ...key('--c6', 'hops'), ...key('--c3', 'transmission')] : []));
  byId('reasons').replaceChildren(
    element('thead', {}, element('tr', {}, ...['Schedule', 'Steps', 'Time', 'Parts', 'Same bits', 'Fastest with'].map((text, i) => element('th', { scope: 'col', class: i === 1 || i === 2 ? 'n' : null }, text)))),
    element('tbody', {}, ...rows.map(row => {
      const share = (/** @type {number} */ ns) => `width:${100 * ns / longest}%`;
      return element('tr', { class: row.chosen ? 'chosen' : null },
        element('td', {}, element('button', { type: 'button', title: 'Show this schedule', onclick: () => app.set({ algorithm: row.algorithm, view: 'schedule', step: 0 }) }, row.algorithm), row.chosen ? ' ← chosen' : ''),
        element('td', { class: 'n' }, String(row.steps)), element('td', { class: 'n', title: `${row.time_ns} ns` }, timeText(row.time_ns)),
        element('td', {}, element('div', { class: row.time_ns > longest ? 'parts more' : 'parts', title: `alpha ${timeText(row.alpha_part_ns)}, hops ${timeText(row.hops_part_ns)}, transmission ${timeText(row.transmission_part_ns)}` },
          element('i', { class: 'alpha', style: share(row.alpha_part_ns) }), element('i', { class: 'hops', style: share(row.hops_part_ns) }), element('i', { class: 'sending', style: share(row.transmission_part_ns) }))),
        element('td', {}, row.consistent ? 'yes' : 'no'), element('td', {}, row.chosen ? '' : wouldWin(row)));
    })));
}
