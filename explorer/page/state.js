/*
 * The state of the page, which is stored in the address's hash in the words of the tool's options, and the equivalent
 * commands.
 */
import table from 'explorer:algorithms';
import tofuD from 'explorer:tofu-d';
import collectives from 'explorer:collectives';
import networkParameters from 'explorer:parameters';
import { bytesArgument, parseBytes, rateArgument, timeArgument } from './format.js';
import { portOf, portText, readTorus } from './torus.js';

/** @typedef {import('./schedule.js').UserFile} UserFile */
/**
 * @typedef {{rank: number, port: number, factor: number, oneWay?: boolean}} Slow factor Infinity: the link is cut, both
 *   ways or one way
 */
/**
 * @typedef {object} State
 * @property {string} torus as typed: "9x9", "8x8m"
 * @property {string} algorithm
 * @property {string} collective
 * @property {number} root of a collective that has one
 * @property {number} bytes
 * @property {number} bandwidth bits per second
 * @property {number} alpha ns
 * @property {number} latency ns
 * @property {number} overhead ns
 * @property {string} delivery head or tail
 * @property {string} model fifo or dateline
 * @property {Slow[]} links
 * @property {string} nodes the nodes of a job, "0-9,16"; "": all
 * @property {Record<string, string>} parameters other parameters of the network, by the names of the tool's options
 * @property {string} view network, schedule, time or why
 * @property {string} layout auto, ring, row, grid or iso
 * @property {number} step the current step; -1: none
 * @property {number} rank the selected rank; -1: none
 * @property {string[]} chart the compared algorithms; those of USUAL: the usual ones of the collective
 * @property {number} most the largest size of the chart; 0: chosen for the torus
 * @property {string} scale time, or relative to an algorithm of the chart
 * @property {string} timeline "ALGORITHM@BYTES" or ""
 */

/** The algorithms of the figures: Trivance, then the others, in the order of their colours. */
const COMPARED = table.filter(one => one.colour)
  .sort((a, b) => Number(a.baseline) - Number(b.baseline) || a.colour - b.colour).map(one => one.family);

/** The titles of the collectives, by name. */
export const COLLECTIVES = Object.fromEntries(collectives.map(one => [one.name, one.title]));
/** The preposition before the root of those that have one. */
const ROOTED = new Map(collectives.filter(one => [one.before, one.after].includes('root'))
  .map(one => [one.name, one.after === 'root' ? 'to' : 'from']));

/** @param {{collective: string}} state */
export const hasRoot = state => ROOTED.has(state.collective);
/** @param {{collective: string, root: number}} state */
export const titleOf = state => COLLECTIVES[state.collective]
  + (hasRoot(state) ? ` ${ROOTED.get(state.collective)} rank ${state.root}` : '');

/**
 * Returns the algorithms of a collective.
 * @param {string} collective
 */
export const algorithmsOf = collective => table.filter(one => one.collectives.includes(collective));

/**
 * Returns the families of a collective's algorithms, with an algorithm's name in place of a family that is named like
 * another algorithm.
 * @param {string} collective
 */
const familiesOf = collective => [...new Set(algorithmsOf(collective)
  .map(one => (table.some(other => other !== one && other.name === one.family) ? one.name : one.family)))];

/** @type {Readonly<State>} */
export const USUAL = Object.freeze({
  torus: '9x9', collective: 'allreduce', root: 0, algorithm: 'planned', bytes: 65536, bandwidth: 800e9, alpha: 1500,
    latency: 100, overhead: 0, delivery: 'head',
  model: 'fifo', links: [], nodes: '', parameters: {}, view: 'schedule', layout: 'auto', step: 0, rank: -1,
  chart: [...COMPARED, 'planned'], most: 0, scale: 'time', timeline: '',
});

/**
 * Returns the compared algorithms: by default those of the figures, or all where there are no figures of the
 * collective.
 * @param {State} state
 */
export function chartOf(state) {
  if (state.chart.join() !== USUAL.chart.join()) return state.chart;
  const families = familiesOf(state.collective), compared = COMPARED.filter(name => families.includes(name));
  return [...(compared.length > 1 ? compared : families), 'planned'];
}

const CONTROLLED =
  new Set(['model', 'delivery', 'bandwidth', 'alpha', 'link-latency', 'message-overhead', 'slow-link', 'cut']);
/** Parameters of the network without a control, with the names and values of the tool's options. */
const PARAMETERS = networkParameters.map(one => one.name).filter(name => !CONTROLLED.has(name));

const UNITS = { ns: 1, us: 1e3, ms: 1e6, 'Mb/s': 1e6, 'Gb/s': 1e9, 'Tb/s': 1e12 };

/**
 * The preset of a profile, the network that the tool has as --network.
 * @param {string} name
 * @param {{title: string, parameters: Record<string, {value: string}>}} profile
 */
function presetOf(name, { title, parameters }) {
  const text = (/** @type {string} */ key) => parameters[key]?.value
    ?? networkParameters.find(one => one.name === key)?.default ?? '';
  const number = (/** @type {string} */ key) =>
    Number.parseFloat(text(key)) * (UNITS[/** @type {keyof UNITS} */ (text(key).replace(/^[\d.]+/, ''))] ?? NaN);
  return { name, title, bandwidth: number('bandwidth'), alpha: number('alpha'), latency: number('link-latency'),
    overhead: number('message-overhead'), delivery: text('delivery'),
    parameters: Object.fromEntries(PARAMETERS.filter(key => parameters[key])
    .map(key => [key, parameters[key].value])) };
}

/**
 * Presets of network parameters: those of the paper, of a cluster, of the network that `trivance testbed` emulates, and
 * of a real torus.
 * @type {{name: string, title: string, bandwidth: number, alpha: number, latency: number, overhead: number, delivery:
 *   string, parameters?: Record<string, string>}[]}
 */
export const PRESETS = [
  { name: 'Paper', title: '800 Gb/s, 1.5 µs a step: the paper’s evaluation', bandwidth: 800e9, alpha: 1500,
  latency: 100, overhead: 0, delivery: 'head' },
  { name: 'Ethernet', title: '100 Gb/s, 10 µs a step, 500 ns a link: a cluster over Ethernet', bandwidth: 100e9,
  alpha: 10000, latency: 500, overhead: 500, delivery: 'tail' },
  { name: 'Testbed', title: '50 Mb/s, 2 ms a hop: the network of trivance testbed', bandwidth: 50e6, alpha: 500e3,
  latency: 2e6, overhead: 0, delivery: 'tail' },
  presetOf('Tofu-D', tofuD),
];

/** @type {Record<'collective' | 'delivery' | 'model' | 'view' | 'layout' | 'scale', string[]>} */
const CHOICES = {
  collective: Object.keys(COLLECTIVES),
  delivery: ['head', 'tail'], model: ['fifo', 'dateline'], view: ['schedule', 'network', 'time', 'why'],
  layout: ['auto', 'ring', 'row', 'grid', 'iso'], scale: ['time', 'limit', 'relative'],
};
// limits for addresses from an untrusted source
const TEXT_MAX = 400, CHART_MAX = 16, LINKS_MAX = 100, NODES_MAX = 1 << 16, SHOWN_MAX = 40, WORDS_MAX = 6;

/** @param {string} option whether it affects plans; `plan` does not have the others */
const isPlanned = option => networkParameters.every(one => one.plans || CONTROLLED.has(one.name)
  || !option.startsWith(`--${one.name}=`));

/**
 * A key of the address: its value as text; reads a text, and returns whether it is valid; what is allowed, in words.
 * @typedef {{write: (state: State) => string, read: (state: State, text: string) => boolean, allowed: string}} Key
 */
/** @type {Map<string, Key>} */
const KEYS = new Map();

/** @template T @param {T | null} value @param {(value: T) => void} set */
const store = (value, set) => {
  if (value !== null) set(value);
  return value !== null;
};
/**
 * @param {'torus' | 'algorithm' | 'timeline' | 'nodes'} key
 * @param {string} allowed
 * @param {RegExp} valid
 * @param {number} most characters
 */
const textKey = (key, allowed, valid = /^/, most = TEXT_MAX) => KEYS.set(key, { allowed, write: state => state[key],
  read: (state, text) => store(valid.test(text) && text.length <= most ? text : null,
  some => { state[key] = some; }) });
/**
 * @param {'bandwidth' | 'alpha' | 'latency' | 'overhead' | 'step' | 'rank' | 'root'} key
 * @param {string} allowed
 * @param {RegExp} valid
 * @param {number} least
 */
const numberKey = (key, allowed, valid, least = 0) => KEYS.set(key, { allowed, write: state => String(state[key]),
  read: (state, text) => store(valid.test(text) && Number(text) >= least && Number(text) < 1e18 ? Number(text) : null,
  some => { state[key] = some; }) });
/** @param {'bytes' | 'most'} key */
const sizeKey = key => KEYS.set(key,
  { allowed: 'a size from 1 to 1024T, for example 64K', write: state => bytesArgument(state[key]),
  read: (state, text) => store(parseBytes(text), some => { state[key] = some; }) });

const NUMBER = /^\d+(\.\d*)?(e[+-]?\d+)?$/i, WHOLE = /^\d{1,9}$/;
textKey('torus', `a torus of up to ${TEXT_MAX} characters, for example 9x9`);
textKey('algorithm', `a name of up to ${TEXT_MAX} characters, for example trivance-b`);
textKey('nodes', 'nodes and ranges of nodes, for example 0-9,16', /^(\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*)?$/,
  NODES_MAX);
textKey('timeline', 'an algorithm and a size, for example trivance-b@64K', /^$|^[^@]+@\d+[kmgt]?(i?b)?$/i);
for (const key of /** @type {const} */ (['collective', 'delivery', 'model', 'view', 'layout', 'scale']))
  KEYS.set(key, { allowed: CHOICES[key].join(', '), write: state => state[key],
  read: (state, text) => store(CHOICES[key].includes(text) ? text : null, some => { state[key] = some; }) });
sizeKey('bytes');
sizeKey('most');
numberKey('bandwidth', 'bits per second, for example 8e11', NUMBER, 1);
for (const key of /** @type {const} */ (['alpha', 'latency', 'overhead']))
  numberKey(key, 'nanoseconds, for example 1500', NUMBER);
for (const key of /** @type {const} */ (['step', 'rank', 'root'])) numberKey(key, 'a whole number from 0', WHOLE);
for (const key of PARAMETERS)
  KEYS.set(key, { allowed: `a value of the tool’s option --${key}`, write: state => state.parameters[key] ?? '',
    read: (state, text) => store(text && text.length <= TEXT_MAX ? text : null,
    some => { state.parameters[key] = some; }) });
KEYS.set('chart', {
  allowed: `up to ${CHART_MAX} names of algorithms or families, for example trivance,swing`,
  write: state => state.chart.join(','),
  read: (state, text) => {
    const names = [...new Set(text.split(',').filter(Boolean))];
    state.chart = names.filter(name => name !== 'all').slice(0, CHART_MAX).map(name => name.slice(0, TEXT_MAX));
    return names.length <= CHART_MAX && names.every(name => name !== 'all' && name.length <= TEXT_MAX);
  },
});
KEYS.set('links', {
  allowed: `up to ${LINKS_MAX} links, for example 3:+0:cut,4:+0:one-way,5:-1:4x`,
  write: ({ links }) => links.map(({ rank, port, factor, oneWay }) =>
    `${rank}:${portText(port)}:${factor < Infinity ? `${factor}x` : oneWay ? 'one-way' : 'cut'}`).join(','),
  read: (state, text) => {
    const words = text.split(',').filter(Boolean);
    state.links = words.flatMap(word => {
      const match = /^(\d{1,9}):([+-])(\d):(?:cut|(one-way)|(\d{1,9}(?:\.\d{1,9})?)x)$/.exec(word);
      if (!match) return [];
      const [, rank, sign, dimension, oneWay, factor] = match, port = portOf(Number(dimension), sign === '-' ? -1 : 1);
      return [{ rank: Number(rank), port, factor: Number(factor ?? Infinity), ...(oneWay ? { oneWay: true } : {}) }];
    }).slice(0, LINKS_MAX);
    return words.length === state.links.length;
  },
});

const CONTROL = /[\0-\x1f\x7f-\x9f]/g; // control characters, which are removed

/** @param {State} state */
export function writeHash(state) {
  const words = [...KEYS].filter(([, { write }]) => write(state) !== write(USUAL))
    .map(([key, { write }]) => `${key}=${write(state).replace(/[%&# ]/g, encodeURIComponent)}`);
  return words.length ? `#${words.join('&')}` : '#';
}

/**
 * Reads an address. `problem` is a sentence that names the keys and the values that are wrong, which are left out.
 * @param {string} hash
 * @returns {{state: State, problem: string | null}}
 */
export function readHash(hash) {
  const state = { ...USUAL, links: [...USUAL.links], chart: [...USUAL.chart], parameters: {} };
  /** @type {string[]} */ const unknown = [], /** @type {string[]} */ wrong = [];
  const shown = (/** @type {string} */ text) =>
    `“${text.replace(CONTROL, '').slice(0, SHOWN_MAX)}${text.length > SHOWN_MAX ? '…' : ''}”`;
  for (const word of hash.replace(/^#/, '').split('&').filter(Boolean)) {
    const at = word.indexOf('='), name = at < 0 ? word : word.slice(0, at), key = at < 0 ? undefined : KEYS.get(name);
    if (!key) {
      unknown.push(shown(word));
      continue;
    }
    let text = null;
    try {
      text = decodeURIComponent(word.slice(at + 1)).replace(CONTROL, '');
    } catch { /* invalid encoding */ }
    if (text === null || !key.read(state, text))
      wrong.push(`${name} is ${shown(text ?? word.slice(at + 1))}, expected ${key.allowed}`);
  }
  const ranks = readTorus(state.torus)?.ranks;
  if (ranks && state.rank >= ranks) {
    wrong.push(`rank is “${state.rank}”, expected 0 to ${ranks - 1} on ${state.torus}`);
    state.rank = -1;
  }
  if (state.root > 0 && (!hasRoot(state) || (ranks && state.root >= ranks))) {
    wrong.push(`root is “${state.root}”, expected ${hasRoot(state) ? `0 to ${(ranks ?? 1) - 1} on ${state.torus}`
      : `none, because ${COLLECTIVES[state.collective]} has no root`}`);
    state.root = 0;
  }
  const few = (/** @type {string[]} */ words) => words.slice(0, WORDS_MAX).join('; ')
    + (words.length > WORDS_MAX ? ' …' : '');
  const parts = [unknown.length
    ? `unknown: ${few(unknown)}; expected KEY=VALUE with the keys ${[...KEYS.keys()].join(', ')}` : '',
    few(wrong)].filter(Boolean);
  return { state, problem: parts.length ? `parts of the address are ignored: ${parts.join('; ')}` : null };
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

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
  for (const [name, value] of Object.entries(state.parameters))
    options.push(...(name === 'slow-rank' ? value.split(',') : [value]).map(one => `--${name}=${one}`));
  return [...options, ...linkOptions(state)];
}

/** @param {State} state */
export const linkOptions = state => state.links.map(link => link.factor === Infinity
  ? `--cut=${link.rank}:${portText(link.port)}${link.oneWay ? ':one-way' : ''}`
    : `--slow-link=${link.rank}:${portText(link.port)}:${link.factor}x`);

/**
 * Returns the collective as options, without default values.
 * @param {State} state
 */
export const collectiveOptions = state => [...(state.collective !== USUAL.collective
  ? [`--collective=${state.collective}`] : []), ...(hasRoot(state) && state.root ? [`--root=${state.root}`] : [])];

/**
 * Returns the options that describe the schedule besides its torus; a file needs none.
 * @param {State} state
 * @param {UserFile | null} file
 */
export const scheduleOptions = (state, file) => (file ? []
  : [state.nodes ? `--nodes=${state.nodes}` : `--algorithm=${state.algorithm}`, ...collectiveOptions(state),
  bytesOption(state), ...networkOptions(state)]);

/**
 * Returns a question: the subcommand, the torus or the file (which has its own links), and the options. A file that is
 * wrong is shown nevertheless.
 * @param {string} command
 * @param {State} state
 * @param {UserFile | null} file
 * @param {string[]} options
 */
export function questionFor(command, state, file, options) {
  const unchecked = file?.verdict.verdict === 'WRONG' && ['plan', 'simulate'].includes(command) ? ['--unchecked'] : [];
  if (file) return [command, `--schedule=${file.name}`, ...unchecked,
    ...options.filter(option => !/^--(cut|slow-link|algorithm|collective|root)=/.test(option))];
  const used = state.nodes || ['plan', 'picture'].includes(command) ? options.filter(isPlanned) : options;
  // the torus must not be parsed as an option
  return state.torus.startsWith('-') ? [command, ...used, '--', state.torus] : [command, state.torus, ...used];
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
 * @param {UserFile | null} file
 */
export function commandFor(state, file) {
  const network = networkOptions(state);
  /** @type {string[]} */ let words;
  if (state.view === 'time' && (file || !state.nodes)) {
    const { most, factor } = chartRange(state), sizes = `--bytes=32:${bytesArgument(most)}:x${factor}`;
    words = questionFor('simulate', state, file, [`--algorithm=${chartOf(state).join(',')}`,
      ...collectiveOptions(state), sizes, `--model=${state.model}`, ...(file ? [] : ['--limit']), ...network]);
  } else
    words = questionFor('plan', state, file, state.view === 'why' && !file && !state.nodes
    ? [...collectiveOptions(state), bytesOption(state), '--why', ...network] : scheduleOptions(state, file));
  return `trivance ${words.map(quoted).join(' ')}`;
}

/**
 * Quotes a word for a shell.
 * @param {string} word
 */
const quoted = word => (/^[\w+:.,/@-][\w=+:.,/@-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
