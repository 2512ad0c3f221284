/*
 * Taking things away: the address, the command, pictures, times, schedules; and bringing a schedule along.
 */
import { complain, toast } from './app.js';
import { chartAsSvg, timesAsCsv } from './chart.js';
import { byId, save } from './dom.js';
import { bytesArgument } from './format.js';
import { openFile } from './schedule.js';
import { commandFor, networkOptions, subject } from './state.js';

/** @typedef {import('./app.js').App} App */

const FILE_MAX = 64 << 20;

/** @param {string} text @param {string} said */
async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or a page without https
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast(said);
}

/** The picture with its colours in it, as a file of its own. */
function pictureAsSvg() {
  const svg = byId('svg'), copied = svg.cloneNode(true);
  const used = new Set();
  const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).filter(rule => rule instanceof CSSStyleRule && /^\.(links|way|disc|number|cut|slow)/.test(rule.selectorText)).map(rule => rule.cssText);
  const text = rules.join('\n') + svg.innerHTML;
  for (const [, name] of text.matchAll(/var\((--[\w-]+)/g)) used.add(name);
  const style = getComputedStyle(document.documentElement);
  const variables = [...used].map(name => [name, style.getPropertyValue(name).trim()]).filter(([, value]) => value).map(([name, value]) => `${name}:${value}`).join(';');
  copied.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copied.removeAttribute('tabindex');
  const sheet = document.createElementNS('http://www.w3.org/2000/svg', 'style');
  sheet.textContent = `svg{${variables};font-family:system-ui,sans-serif;background:${style.getPropertyValue('--card')}}\n${rules.join('\n')}`;
  copied.prepend(sheet);
  copied.querySelector('.playing')?.setAttribute('class', 'arrows');
  return `${new XMLSerializer().serializeToString(copied)}\n`;
}

/** @param {App} app */
async function saveSchedule(app) {
  const { state } = app;
  const question = ['plan', ...subject(state, app.file?.name ?? null), ...(app.file ? [] : [`--bytes=${bytesArgument(state.bytes)}`, ...networkOptions(state)]), '--format=json'];
  const answer = await app.ask('save', question);
  if (!answer) return;
  complain('save', answer.code ? answer : null);
  if (!answer.code) save('schedule.json', answer.out, 'application/json');
}

/** @param {App} app @param {File | undefined | null} file */
async function take(app, file) {
  if (!file) return;
  if (file.size > FILE_MAX) complain('file', `${file.name} has ${Math.round(file.size / 2 ** 20)} MiB; the page takes up to 64, the command line any size`);
  else await openFile(app, file.name, await file.text());
}

/** @param {App} app */
export function makeShare(app) {
  app.views.push(() => { byId('command').textContent = commandFor(app.state, app.file?.name ?? null); });
  byId('copy-command').onclick = () => copy(byId('command').textContent, 'The command is copied');
  byId('copy-link').onclick = () => copy(location.href, app.file ? 'The address is copied; the file is not in it' : 'The address is copied');
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
