/*
 * The view Why: the runners-up to the plan, the parts of their times, and the networks on which they would be fastest.
 */
import { cancelButton, showProblem } from './app.js';
import { byId, element, legendEntry } from './dom.js';
import { bytesText, rateText, timeText } from './format.js';
import { bytesOption, collectiveOptions, networkOptions, questionFor, scheduleOptions, titleOf,
  USUAL } from './state.js';

/** @typedef {import('./app.js').App} App */

const PARTS = ['alpha', 'hops', 'transmission']; // of a time
const COLUMNS = ['Schedule', 'Steps', 'Time', 'Parts'], ON_NODES = ['Order of the ranks'];
const ON_ALL = ['Same bits', 'Fastest with'];
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
    const what = state.collective === USUAL.collective ? '' : `of a ${titleOf(state)} `;
    byId('why-title').textContent = `Why this schedule ${what}for ${state.nodes ? `the nodes ${state.nodes} of ` : ''}`
      + `${state.torus} and ${bytesText(state.bytes)}`;
    const question = questionFor('plan', state, null, [...(state.nodes ? scheduleOptions(state, null)
      : [...collectiveOptions(state), bytesOption(state), '--why', ...networkOptions(state)]), '--format=json']);
    const now = app.keyOf(question);
    if (now === asked) return;
    asked = now;
    byId('why-text').replaceChildren('planning … ', cancelButton(app, 'why'));
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
      draw(app, answer.code ? [] : JSON.parse(answer.out).map(fromNodes));
    });
  });
}

/**
 * Converts a row of `plan --nodes` to one of `plan --why`, which names the columns otherwise.
 * @param {any} row @param {number} i
 */
const fromNodes = (row, i) => (row.plan === undefined ? row : {
  ...row, algorithm: `${row.plan} on a ${row.shape}`, chosen: i === 0, alpha_part_ns: row.alpha_ns,
    hops_part_ns: row.hops_ns, transmission_part_ns: row.transmission_ns });

/** @param {any} row */
function wouldWin(row) {
  /** @type {string[]} */ const words = [];
  /** @param {string} how @param {number} value @param {string} what @param {(v: number) => string} text */
  const add = (how, value, what, text) => {
    if (how) words.push(`${what} ${how} ${text(value)}`);
  };
  add(row.wins_bandwidth, row.bandwidth_bps, 'bandwidth', rateText);
  add(row.wins_alpha, row.alpha_ns, 'alpha', timeText);
  add(row.wins_link_latency, row.link_latency_ns, 'link latency', timeText);
  return words.join('; ') || '–';
}

/** @param {App} app @param {any[]} rows */
function draw(app, rows) {
  // slower ones extend beyond the end of the bar
  const longest = rows.length ? Math.max(...rows.slice(0, 8).map(row => row.time_ns)) : 1;
  const onNodes = rows.length > 0 && rows[0].order !== undefined; // without comparisons of networks
  byId('why-text').replaceChildren(...(rows.length ? ['Parts of the time: ', legendEntry(['--c2'], 'alpha'),
    legendEntry(['--c6'], 'hops'), legendEntry(['--c3'], 'transmission')] : []));
  byId('reasons').replaceChildren(
    element('thead', {}, element('tr', {}, ...[...COLUMNS, ...(onNodes ? ON_NODES : ON_ALL)].map((text, i) =>
      element('th', { scope: 'col', class: i === 1 || i === 2 ? 'n' : null }, text)))),
    element('tbody', {}, ...rows.map(row => {
      const of = (/** @type {string} */ part) => row[`${part}_part_ns`];
      return element('tr', { class: row.chosen ? 'chosen' : null },
        element('td', {}, onNodes ? row.algorithm : element('button', { type: 'button', title: 'Show this schedule',
          onclick: () => app.set({ algorithm: row.algorithm, view: 'schedule', step: 0 }) }, row.algorithm),
        row.chosen ? ' ← chosen' : ''),
        element('td', { class: 'n' }, String(row.steps)),
        element('td', { class: 'n', title: `${row.time_ns} ns` }, timeText(row.time_ns)),
        element('td', {}, element('div', { class: row.time_ns > longest ? 'parts more' : 'parts',
          title: PARTS.map(part => `${part} ${timeText(of(part))}`).join(', ') },
        ...PARTS.map(part => element('i', { class: part, style: `width:${100 * of(part) / longest}%` })))),
        ...(onNodes ? [row.order] : [row.consistent ? 'yes' : 'no', row.chosen ? '' : wouldWin(row)])
          .map(text => element('td', {}, text)));
    })));
}
