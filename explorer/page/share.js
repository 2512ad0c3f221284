/*
 * Copying and saving: the address, the command, pictures, times and schedules; and opening a schedule.
 */
import { showProblem, toast } from './app.js';
import { chartAsSvg, chartNames, timesAsCsv } from './chart.js';
import { byId, colour, save } from './dom.js';
import { openFile } from './schedule.js';
import { commandFor, questionFor, scheduleOptions } from './state.js';

/** @typedef {import('./app.js').App} App */

const FILE_MAX = 64 << 20, SAVE_JSON = 'Schedule as JSON';
const LINK = 'Copy the address, which contains the state of the page',
  LINK_WITHOUT_FILE = 'Copy the address, which contains the state of the page, but not the opened file';

/** @param {string} text @param {string} confirmation */
async function copy(text, confirmation) {
  let copied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or a page without https
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    copied = document.execCommand('copy');
    area.remove();
  }
  toast(copied ? confirmation : 'The browser does not allow the page to copy; select the text and copy it');
}

const KEPT = ['d', 'cx', 'cy', 'r', 'x', 'y', 'rx', 'width', 'height'];
const DRAWN = ['fill', 'stroke', 'stroke-width', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'text-anchor',
  'font-size', 'font-weight', 'paint-order'];

/**
 * Converts a computed colour to a form that all programs support.
 * @param {string} value
 */
function plainColour(value) {
  const parts = /^(?:color\(srgb |rgba?\()([\d.e+-]+)[ ,]+([\d.e+-]+)[ ,]+([\d.e+-]+)/.exec(value);
  if (!parts) return value;
  const bytes = parts.slice(1).map(part => Math.round(Number(part) * (value.startsWith('color') ? 255 : 1)));
  return `#${bytes.map(byte => byte.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * Returns the current picture with its style in attributes, because drawing programs do not support custom properties.
 */
function pictureAsSvg() {
  const svg = byId('svg'), copied = svg.cloneNode(true), { width, height } = svg.viewBox.baseVal;
  svg.querySelector('.playing')?.setAttribute('class', 'arrows'); // the state at the end of the animation
  const shapes = copied.querySelectorAll('path, circle, rect, text');
  svg.querySelectorAll('path, circle, rect, text').forEach((/** @type {Element} */ shown, /** @type {number} */ i) => {
    const style = getComputedStyle(shown),
      opacity = [...parents(shown, svg)].reduce((product, one) => product * Number(getComputedStyle(one).opacity), 1);
    const kept = KEPT.map(name => [name, shown.getAttribute(name)]);
    for (const { name } of [...shapes[i].attributes]) shapes[i].removeAttribute(name);
    for (const [name, value] of kept) if (name && value !== null) shapes[i].setAttribute(name, value);
    for (const name of DRAWN.filter(one => shown.localName === 'text' || !/^(text|font|paint)/.test(one))) {
      const value = name === 'opacity' ? String(opacity) : plainColour(style.getPropertyValue(name));
      if (!(name === 'opacity' && value === '1') && !(/^stroke-/.test(name) && style.stroke === 'none'))
        shapes[i].setAttribute(name, value.replace(/px$/, ''));
    }
    if (shown.classList.contains('number')) shapes[i].setAttribute('dy', '.35em');
  });
  for (const group of copied.querySelectorAll('g')) for (const { name } of [...group.attributes])
    group.removeAttribute(name);
  for (const { name } of [...copied.attributes]) if (name !== 'viewBox') copied.removeAttribute(name);
  for (const [name, value] of Object.entries({ width, height, 'font-family': 'system-ui, sans-serif',
    style: `background:${colour('--card')}` })) copied.setAttribute(name, String(value));
  return `${new XMLSerializer().serializeToString(copied)}\n`;
}

/** @param {Element} node @param {Element} end @returns {Generator<Element>} the node and what it is in */
function* parents(node, end) {
  for (let one = /** @type {Element | null} */ (node); one && one !== end; one = one.parentElement) yield one;
}

/** @param {App} app */
async function saveSchedule(app) {
  const { state } = app;
  if (state.nodes && !app.file) { // `plan --nodes` has no schedule as its answer
    showProblem('save',
      'the schedule of a set of nodes cannot be saved: expected a schedule of all nodes; remove the set first');
    return;
  }
  const question = questionFor('plan', state, app.file, [...scheduleOptions(state, app.file), '--format=json']);
  const button = document.querySelector('[data-save="json"]'), says = byId('save-menu').firstElementChild;
  if (!button || button.textContent !== SAVE_JSON) { // it is running
    app.cancel('save');
    return;
  }
  button.textContent = 'Cancel the schedule';
  says.textContent = 'Saving …';
  const answer = await app.ask('save', question);
  button.textContent = SAVE_JSON;
  says.textContent = 'Save';
  if (!answer) return;
  showProblem('save', answer.code ? answer : null);
  if (!answer.code) save('schedule.json', answer.out, 'application/json');
}

/** @param {App} app @param {File | undefined | null} file */
async function take(app, file) {
  if (!file) return;
  if (file.size > FILE_MAX) {
    showProblem('open', `${file.name} has ${Math.round(file.size / 2 ** 20)} MiB; `
      + 'the page accepts at most 64 MiB, the command line any size');
    return;
  }
  const bytes = await file.arrayBuffer().catch(() => null); // for example, a folder
  if (bytes) await openFile(app, file.name, new Uint8Array(bytes));
  else showProblem('open', `${file.name} cannot be read: expected a file with a schedule`);
}

/** @param {App} app */
export function makeShare(app) {
  app.views.push(() => {
    byId('command').textContent = commandFor({ ...app.state, chart: chartNames(app) }, app.file);
    byId('copy-link').title = app.file ? LINK_WITHOUT_FILE : LINK;
  });
  byId('copy-command').onclick = () => copy(byId('command').textContent, 'The command is copied');
  byId('copy-link').onclick = () => {
    app.address();
    void copy(location.href,
      app.file ? 'The address is copied; it does not contain the opened file' : 'The address is copied');
  };
  byId('open').onclick = () => byId('file').click();
  byId('file').onchange = () => {
    void take(app, byId('file').files[0]);
    byId('file').value = '';
  };
  for (const button of document.querySelectorAll('[data-save]'))
    button.addEventListener('click', () => {
      byId('save-menu').open = false;
      const what = /** @type {HTMLElement} */ (button).dataset.save;
      if (what === 'json') void saveSchedule(app);
      else if (what === 'csv') save('times.csv', timesAsCsv(app), 'text/csv');
      else save('trivance.svg', app.state.view === 'time' ? chartAsSvg() : pictureAsSvg(), 'image/svg+xml');
    });
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape') byId('save-menu').open = false;
  });
  document.addEventListener('click', event => {
    if (event.target instanceof Node && !byId('save-menu').contains(event.target)) byId('save-menu').open = false;
  });
  document.addEventListener('dragover', event => {
    event.preventDefault();
    byId('drop').hidden = false;
  });
  document.addEventListener('dragleave', event => {
    if (!event.relatedTarget) byId('drop').hidden = true;
  });
  document.addEventListener('drop', event => {
    event.preventDefault();
    byId('drop').hidden = true;
    void take(app, event.dataTransfer?.files[0]);
  });
}
