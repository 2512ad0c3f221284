/*
 * The state of the page, which is stored in the address's hash in the words of the tool's options, and the equivalent
 * commands.
 */
import table from 'explorer:algorithms';
import { bytesArgument, parseBytes, portText, rateArgument, timeArgument } from './format.js';
import { readTorus } from './geometry.js';

/** @typedef {{rank: number, port: number, factor: number}} Slow factor Infinity: the link is cut, both ways */
/**
 * @typedef {object} State
 * @property {string} torus as typed: "9x9", "8x8m"
 * @property {string} algorithm
 * @property {number} bytes
 * @property {number} bandwidth bits per second
 * @property {number} alpha ns
 * @property {number} latency ns
 * @property {number} overhead ns
 * @property {string} delivery head or tail
 * @property {string} model fifo or dateline
 * @property {Slow[]} links
 * @property {string} view network, schedule, time or why
 * @property {string} layout auto, ring, row, grid or iso
 * @property {number} step the current step; -1: none
 * @property {number} rank the selected rank; -1: none
 * @property {string[]} chart the compared algorithms
 * @property {number} most the largest size of the chart; 0: chosen for the torus
 * @property {string} scale time, or relative to an algorithm of the chart
 * @property {string} timeline "ALGORITHM@BYTES" or ""
 */

/** The algorithms of the figures: Trivance, then the others, in the order of their colours. */
const COMPARED = table.filter(one => one.colour).sort((a, b) => Number(a.baseline) - Number(b.baseline) || a.colour - b.colour).map(one => one.family);

/** @type {Readonly<State>} */
export const USUAL = Object.freeze({
  torus: '9x9', algorithm: 'planned', bytes: 65536, bandwidth: 800e9, alpha: 1500, latency: 100, overhead: 0, delivery: 'head',
  model: 'fifo', links: [], view: 'schedule', layout: 'auto', step: 0, rank: -1,
  chart: COMPARED, most: 0, scale: 'time', timeline: '',
});

/** Presets of network parameters: those of the paper, of a cluster, and of the network that `trivance testbed` emulates. */
export const PRESETS = [
  { name: 'Paper', title: '800 Gb/s, 1.5 µs a step: the paper’s evaluation', bandwidth: 800e9, alpha: 1500, latency: 100, overhead: 0, delivery: 'head' },
  { name: 'Ethernet', title: '100 Gb/s, 10 µs a step, 500 ns a link: a cluster over Ethernet', bandwidth: 100e9, alpha: 10000, latency: 500, overhead: 500, delivery: 'tail' },
  { name: 'Testbed', title: '50 Mb/s, 2 ms a hop: the network of trivance testbed', bandwidth: 50e6, alpha: 500e3, latency: 2e6, overhead: 0, delivery: 'tail' },
];

/** @type {Record<'delivery' | 'model' | 'view' | 'layout' | 'scale', string[]>} */
const CHOICES = {
  delivery: ['head', 'tail'], model: ['fifo', 'dateline'], view: ['schedule', 'network', 'time', 'why'],
  layout: ['auto', 'ring', 'row', 'grid', 'iso'], scale: ['time', 'limit', 'relative'],
};
const TEXT_MAX = 400, CHART_MAX = 16, LINKS_MAX = 100; // limits for addresses from an untrusted source

/** @type {Map<string, {write: (state: State) => string, read: (state: State, text: string) => void}>} */
const KEYS = new Map();
for (const key of /** @type {const} */ (['torus', 'algorithm', 'timeline']))
  KEYS.set(key, { write: state => state[key], read: (state, text) => { state[key] = text.slice(0, TEXT_MAX); } });
for (const key of /** @type {const} */ (['delivery', 'model', 'view', 'layout', 'scale']))
  KEYS.set(key, { write: state => state[key], read: (state, text) => { state[key] = CHOICES[key].includes(text) ? text : USUAL[key]; } });
for (const key of /** @type {const} */ (['bytes', 'most']))
  KEYS.set(key, { write: state => bytesArgument(state[key]), read: (state, text) => { state[key] = parseBytes(text) ?? USUAL[key]; } });
for (const key of /** @type {const} */ (['bandwidth', 'alpha', 'latency', 'overhead']))
  KEYS.set(key, {
    write: state => String(state[key]),
    read: (state, text) => { state[key] = Number.isFinite(Number(text)) && text !== '' ? Number(text) : USUAL[key]; },
  });
for (const key of /** @type {const} */ (['step', 'rank']))
  KEYS.set(key, { write: state => String(state[key]), read: (state, text) => { state[key] = /^\d{1,9}$/.test(text) ? Number(text) : USUAL[key]; } });
KEYS.set('chart', {
  write: state => state.chart.join(','),
  read: (state, text) => { state.chart = [...new Set(text.split(',').filter(Boolean))].slice(0, CHART_MAX).map(name => name.slice(0, TEXT_MAX)); },
});
KEYS.set('links', {
  write: state => state.links.map(link => `${link.rank}:${portText(link.port)}:${link.factor === Infinity ? 'cut' : `${link.factor}x`}`).join(','),
  read: (state, text) => {
    state.links = [...text.matchAll(/(\d+):([+-])(\d):(?:cut|(\d+\.?\d*)x)/g)].slice(0, LINKS_MAX).map(([, rank, sign, dimension, factor]) => ({
      rank: Number(rank), port: 2 * Number(dimension) + (sign === '-' ? 1 : 0), factor: factor ? Number(factor) : Infinity,
    }));
  },
});

const CONTROL = /[\0-\x1f\x7f-\x9f]/g; // control characters, which are removed

/** @param {State} state */
export function writeHash(state) {
  const words = [...KEYS].filter(([, { write }]) => write(state) !== write(USUAL))
    .map(([key, { write }]) => `${key}=${write(state).replaceAll('%', '%25').replaceAll('&', '%26').replaceAll('#', '%23').replaceAll(' ', '%20')}`);
  return words.length ? `#${words.join('&')}` : '#';
}

/** @param {string} hash @returns {State} */
export function readHash(hash) {
  const state = { ...USUAL, links: [...USUAL.links], chart: [...USUAL.chart] };
  for (const word of hash.replace(/^#/, '').split('&')) {
    const at = word.indexOf('=');
    const key = KEYS.get(word.slice(0, at));
    if (at < 0 || !key) continue;
    try {
      key.read(state, decodeURIComponent(word.slice(at + 1)).replace(CONTROL, ''));
    } catch { /* invalid encoding: ignored */ }
  }
  return state;
}

/* ---- Questions ---------------------------------------------------------------------------------------------------- */

/**
 * Returns the network as options, without default values.
 * @param {State} state
 */
export function networkOptions(state) {
  const options = [];
  if (state.bandwidth !== USUAL.bandwidth) options.push(`--bandwidth=${rateArgument(state.bandwidth)}`);
  if (state.alpha !== USUAL.alpha) options.push(`--alpha=${timeArgument(state.alpha)}`);
  if (state.latency !== USUAL.latency) options.push(`--link-latency=${timeArgument(state.latency)}`);
  if (state.overhead !== USUAL.overhead) options.push(`--message-overhead=${timeArgument(state.overhead)}`);
  if (state.delivery !== USUAL.delivery) options.push(`--delivery=${state.delivery}`);
  return [...options, ...linkOptions(state)];
}

/** @param {State} state */
function linkOptions(state) {
  return state.links.map(link => link.factor === Infinity ? `--cut=${link.rank}:${portText(link.port)}`
    : `--slow-link=${link.rank}:${portText(link.port)}:${link.factor}x`);
}

/**
 * Returns a question: the subcommand, the torus or the file (which has its own links), and the options.
 * @param {string} command
 * @param {State} state
 * @param {string | null} file
 * @param {string[]} options
 */
export function questionFor(command, state, file, options) {
  if (file) return [command, `--schedule=${file}`, ...options.filter(option => !/^--(cut|slow-link|algorithm)=/.test(option))];
  return state.torus.startsWith('-') ? [command, ...options, '--', state.torus] : [command, state.torus, ...options]; // the torus must not be parsed as an option
}

/** @param {State} state */
export const bytesOption = state => `--bytes=${bytesArgument(state.bytes)}`;

/**
 * Returns the range of the chart's sizes, as in the tool's options: fewer and smaller sizes where a simulation takes
 * seconds.
 * @param {State} state
 */
export function chartRange(state) {
  const large = (readTorus(state.torus)?.ranks ?? 1) > 1024;
  return { most: state.most || (large ? 1 << 20 : 8 << 20), factor: large ? 16 : 4 };
}

/** @param {State} state */
export function chartSizes(state) {
  const { most, factor } = chartRange(state), sizes = [];
  for (let bytes = 32; bytes < most; bytes *= factor) sizes.push(bytes);
  return [...sizes, most];
}

/**
 * Returns the command line that prints the contents of the page.
 * @param {State} state
 * @param {string | null} file
 */
export function commandFor(state, file) {
  const network = networkOptions(state), bytes = bytesOption(state);
  /** @type {string[]} */ let words;
  if (state.view === 'time') {
    const { most, factor } = chartRange(state), sizes = `--bytes=32:${bytesArgument(most)}:x${factor}`;
    words = questionFor('simulate', state, file, [`--algorithm=${state.chart.join(',')}`, sizes, `--model=${state.model}`, ...(file ? [] : ['--limit']), ...network]);
  } else {
    const options = file ? [] : state.view === 'why' ? [bytes, '--why', ...network] : [`--algorithm=${state.algorithm}`, bytes, ...network];
    words = questionFor('plan', state, file, options);
  }
  return `trivance ${words.map(quoted).join(' ')}`;
}

/**
 * Quotes a word for a shell.
 * @param {string} word
 */
const quoted = word => (/^[\w+:.,/@-][\w=+:.,/@-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
