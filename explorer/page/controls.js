/*
 * The controls: the torus as text and as sliders, the network's parameters, the algorithm and the size.
 */
import table from 'explorer:algorithms';
import { byId, element, segment } from './dom.js';
import { bytesText, rateText, timeText } from './format.js';
import { portText, readTorus, torusText } from './torus.js';
import { algorithmsOf, COLLECTIVES, hasRoot, PRESETS, USUAL } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

const LOCKED = '#torus, #nodes, #algorithm, #collective, #root, .dimension input, .dimension button, #links button';
const NO_FORWARDING = 'no-forwarding'; // a parameter with a control

const nice = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number[]} */ steps) => {
  const values = [];
  for (let power = low; power < high; power *= 10) for (const step of steps)
    values.push(Number((power * step).toPrecision(3)));
  return [...values, high];
};

/**
 * @type {{key: 'bandwidth' | 'alpha' | 'latency' | 'overhead', text: string, values: number[], show: (value: number) =>
 *   string}[]}
 */
const SLIDERS = [
  { key: 'bandwidth', text: 'Bandwidth of a link', values: nice(10e6, 10e12, [1, 2, 4, 5, 8]), show: rateText },
  { key: 'alpha', text: 'Alpha, paid every step', values: [0, ...nice(10, 1e6, [1, 1.5, 2, 3, 5, 7])], show: timeText },
  { key: 'latency', text: 'Latency of a link', values: [0, ...nice(10, 1e7, [1, 2, 3, 5, 7])], show: timeText },
  { key: 'overhead', text: 'Overhead of a message', values: [0, ...nice(10, 1e5, [1, 2, 3, 5, 7])], show: timeText },
];
export const SIZES = Array.from({ length: 26 }, (_, i) => 32 * 2 ** i);

const nearest = (/** @type {number[]} */ values, /** @type {number} */ value) =>
  values.reduce((best, one, i) =>
  (Math.abs(Math.log((one + 1) / (value + 1))) < Math.abs(Math.log((values[best] + 1) / (value + 1))) ? i : best), 0);

/**
 * Creates a slider over a list of values.
 * @param {string} id
 * @param {string} text
 * @param {number[]} values
 * @param {(value: number) => string} show
 * @param {(value: number) => void} change
 */
function slider(id, text, values, show, change) {
  const output = element('output', { for: id });
  const input = element('input',
    { type: 'range', id, min: 0, max: values.length - 1, step: 1, oninput: () => change(values[Number(input.value)]) });
  return {
    node: element('div', { class: 'slide' },
      element('div', { class: 'line' }, element('label', { for: id }, text), output), input),
    /** @param {number} value */
    update(value) {
      input.value = String(nearest(values, value));
      input.setAttribute('aria-valuetext', show(value));
      output.textContent = show(value);
    },
  };
}

/** @param {App} app */
export function makeControls(app) {
  const torus = byId('torus'), nodes = byId('nodes'), algorithm = byId('algorithm'), collective = byId('collective'),
    root = byId('root'), form = byId('form');
  form.addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
  torus.addEventListener('input',
    () => app.set({ torus: torus.value.trim(), links: [], nodes: '', rank: -1, root: 0, step: 0, timeline: '' }));
  nodes.addEventListener('change',
    () => app.set({ nodes: nodes.value.replace(/\s/g, ''), root: 0, step: 0, timeline: '' }));
  collective.append(...Object.entries(COLLECTIVES).map(([value, text]) => element('option', { value }, text)));
  collective.addEventListener('change', () => {
    const name = app.state.algorithm,
      known = algorithmsOf(collective.value).some(one => [one.name, one.family].includes(name.split(':')[0]));
    app.set({ collective: collective.value, root: 0, algorithm: known ? name : 'planned', chart: [...USUAL.chart],
      step: 0, timeline: '' });
  });
  root.addEventListener('change',
    () => app.set({ root: Math.max(0, Math.floor(Number(root.value)) || 0), step: 0, timeline: '' }));
  algorithm.addEventListener('change', () => app.set({ algorithm: algorithm.value.trim() || 'planned', step: 0 }));
  const sliders = SLIDERS.map(({ key, text, values, show }) =>
    ({ key, ...slider(`slider-${key}`, text, values, show, value => app.set({ [key]: value })) }));
  byId('sliders').append(...sliders.map(one => one.node));
  const size = slider('slider-bytes', 'Size of the vector', SIZES, bytesText, bytes => app.set({ bytes }));
  byId('size').append(size.node);

  app.views.push(() => {
    const { state } = app, parsed = readTorus(state.torus);
    if (document.activeElement !== torus) torus.value = app.file ? 'as in the file' : state.torus;
    if (document.activeElement !== nodes) nodes.value = app.file ? '' : state.nodes;
    if (document.activeElement !== algorithm) algorithm.value = state.nodes ? 'planned' : state.algorithm;
    collective.value = state.collective;
    byId('root-label').hidden = !hasRoot(state);
    if (document.activeElement !== root) root.value = String(state.root);
    root.max = String(Math.max(0, (parsed?.ranks ?? 1) - 1));
    const offered = algorithmsOf(state.collective),
      names = new Set(['planned', ...offered.map(one => one.family), ...offered.map(one => one.name)]);
    byId('algorithms').replaceChildren(...[...names].map(value => element('option', { value })));
    torus.setAttribute('aria-invalid', String(!parsed));
    for (const one of sliders) one.update(state[one.key]);
    size.update(state.bytes);
    segment(byId('presets'), PRESETS.map(({ name, title }) => ({ key: name, text: name, title })),
      PRESETS.find(preset => SLIDERS.every(({ key }) => preset[key] === state[key])
      && preset.delivery === state.delivery
      && JSON.stringify(preset.parameters ?? {}) === JSON.stringify(state.parameters))?.name ?? '',
      key => {
        const { bandwidth, alpha, latency, overhead, delivery,
          parameters = {} } = PRESETS.find(preset => preset.name === key) ?? PRESETS[0];
        app.set({ bandwidth, alpha, latency, overhead, delivery, parameters: { ...parameters } });
      });
    segment(byId('delivery'), [{ key: 'head', text: 'head', title: 'as in the paper’s simulator' },
      { key: 'tail', text: 'tail', title: 'as on a real link' }],
      state.delivery, delivery => app.set({ delivery }));
    segment(byId('forwarding'), [{ key: 'no', text: 'forwarded', title: 'by routers or switches' },
      { key: 'yes', text: 'not forwarded', title: 'hosts without switches: a message crosses one link' }],
      state.parameters[NO_FORWARDING] ?? 'no', value => {
      const { [NO_FORWARDING]: _, ...others } = app.state.parameters;
      app.set({ parameters: value === 'yes' ? { ...others, [NO_FORWARDING]: value } : others });
    });
    byId('controls-summary').textContent = [state.torus, rateText(state.bandwidth), COLLECTIVES[state.collective],
      state.algorithm, bytesText(state.bytes)].join(' · ');
    byId('algorithm-hint').textContent = table.find(one => one.name === state.algorithm.split(':')[0])?.title
      ?? (state.algorithm === 'planned' || state.nodes
      ? 'the schedule that the planner selects for this size and network' : '');
    drawDimensions(app, app.file ? null : parsed);
    drawLinkList(app);
    for (const one of form.querySelectorAll(LOCKED))
      one.disabled = Boolean(app.file) || (one === algorithm && state.nodes !== '');
  });
}

/**
 * Draws a slider, and a button for ring or line, for each of the first dimensions.
 * @param {App} app
 * @param {import('./torus.js').Torus | null} torus
 */
function drawDimensions(app, torus) {
  const box = byId('dimensions');
  if (!torus || torus.size.length > 4) {
    box.replaceChildren();
    return;
  }
  const most = torus.size.length === 1 ? 81 : torus.size.length === 2 ? 32 : 16;
  if (box.children.length !== torus.size.length)
    box.replaceChildren(...torus.size.map((_, d) => element('div', { class: 'dimension' }, element('span', {}, `d${d}`),
      element('input', { type: 'range', min: 1, 'aria-label': `Size of dimension ${d}`,
      oninput: (/** @type {any} */ event) => change(d, Number(event.target.value)) }),
      element('button', { type: 'button', class: 'quiet', onclick: () => change(d, null) }))));
  /** @param {number} d @param {number | null} size null: a ring becomes a line, a line a ring */
  const change = (d, size) => {
    const now = readTorus(app.state.torus);
    if (!now) return;
    if (size) now.size[d] = size;
    else now.lines ^= 1 << d;
    if (now.size[d] === 1) now.lines &= ~(1 << d);
    byId('torus').value = torusText(now);
    app.set({ torus: torusText(now), links: [], nodes: '', rank: -1, root: 0, step: 0, timeline: '' });
  };
  torus.size.forEach((n, d) => {
    const [, input, button] = /** @type {any} */ (box.children[d].children), line = Boolean((torus.lines >> d) & 1);
    input.max = String(Math.max(most, n));
    input.value = String(n);
    input.setAttribute('aria-valuetext', `${n} ranks`);
    button.textContent = line ? 'line' : 'ring';
    button.disabled = n === 1;
    button.setAttribute('aria-label',
      `Dimension ${d} is a ${line ? 'line' : 'ring'}; make it a ${line ? 'ring' : 'line'}`);
  });
}

/**
 * Lists what has no control of its own, each with a button that removes it: slow and cut links, and
 * parameters of the network.
 * @param {App} app
 */
function drawLinkList(app) {
  const { links, parameters } = app.state;
  /** @param {string} text @param {string} button @param {string} label @param {Partial<State>} patch */
  const entry = (text, button, label, patch) => element('li', {}, text,
    element('button', { type: 'button', class: 'quiet', 'aria-label': label, onclick: () => app.set(patch) }, button));
  const others = Object.entries(parameters).filter(([name]) => name !== NO_FORWARDING);
  const entries = [
    ...others.map(([name, value]) => entry(`${name} ${value}`, 'default', `Default of ${name}`,
      { parameters: Object.fromEntries(Object.entries(parameters).filter(other => other[0] !== name)) })),
    ...links.map(link => {
      const name = `${link.rank}:${portText(link.port)}`, { factor, oneWay } = link;
      return entry(`${name} is ${factor < Infinity ? `${factor} times as slow` : oneWay ? 'cut, one way' : 'cut'}`,
        'restore', `Restore link ${name}`, { links: links.filter(other => other !== link) });
    })];
  byId('links').replaceChildren(entries.length ? element('ul', {}, ...entries)
    : element('p', { class: 'hint' },
      'All links have full speed; a click on a link in the view Network slows or cuts it.'));
}
