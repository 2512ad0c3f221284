/*
 * The views Network and Schedule: the picture, the controls of its steps, and beside it the messages of one rank and
 * the data that each rank holds.
 */
import { cancelButton, showProblem, tip, toast } from './app.js';
import { byId, element, prefersReducedMotion, segment } from './dom.js';
import { bytesText, countText } from './format.js';
import { drawMatrix, sumOf } from './matrix.js';
import { drawStage, findAt, legendOf, linkKey, NO_STEP, streamColour } from './stage.js';
import { linkOptions, questionFor, scheduleOptions, titleOf, USUAL } from './state.js';
import { active, coordinates, opposite, portOf, portText, readTorus } from './torus.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./stage.js').Message} Message */
/** @typedef {import('./stage.js').Network} Network */
/** @typedef {import('./stage.js').Step} Step */

const ALL_AT_ONCE = 300, HELD_MAX = 256, PACE_MS = 1300, SLOW_MS = 500;

/** @type {Network | null} the core's layout of the network */ let network = null;
/** @type {any} the core's picture of the current schedule, on the network with the key `network` */ let picture = null;
/** @type {Message[]} */ let shown = [];
let playing = 0, laid = '', asked = '', moved = false, waiting = false, busiest = 0;

/** @param {App} app */
export function makeSchedule(app) {
  const svg = byId('svg');
  app.views.push(() => update(app));
  byId('first').onclick = () => go(app, 0);
  byId('back').onclick = () => go(app, app.state.step - 1);
  byId('forward').onclick = () => go(app, app.state.step + 1);
  byId('play').onclick = () => (playing ? stop() : play(app));
  byId('step').oninput = () => go(app, Number(byId('step').value));
  svg.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => hover(app, event));
  svg.addEventListener('pointerleave', () => tip(null));
  svg.addEventListener('click', (/** @type {MouseEvent} */ event) => click(app, event));
  svg.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => key(app, event));
  document.addEventListener('visibilitychange', () => document.hidden && stop());
}

/**
 * Converts a step of the core's picture.
 * @param {any} step null: it was not asked for
 * @returns {Step}
 */
const readStep = step => (!step ? NO_STEP : {
  together: step.together,
  messages: step.messages.map((/** @type {any[]} */ [stream, from, to, bytes, hops, route, path, head, width]) =>
    ({ stream, from, to, bytes, hops, route, path, head, width })),
  loads: new Map(step.loads.map((/** @type {number[]} */ [rank, port, count, bytes]) =>
    [linkKey(rank, port), { count, bytes }])),
});
const stepNow = (/** @type {App} */ app) => picture?.steps_drawn[app.state.step] ?? NO_STEP;

/** @param {Step} step @param {'count' | 'bytes'} what */
const largestLoad = (step, what) => [...step.loads.values()].reduce((most, load) => Math.max(most, load[what]), 0);

/** @param {App} app */
function update(app) {
  const { state } = app, isShown = state.view === 'network' || state.view === 'schedule';
  byId('stage').hidden = !isShown;
  const form = state.layout === 'auto' ? [] : [`--form=${state.layout}`],
    ranks = app.file?.verdict.ranks ?? readTorus(state.torus)?.ranks ?? 1;
  const layout = questionFor('layout', state, app.file, [...form, ...linkOptions(state)]), key = app.keyOf(layout);
  const question = questionFor('picture', state, app.file, [...form, ...scheduleOptions(state, app.file),
    ranks <= ALL_AT_ONCE ? '--step=-1' : `--step=${state.step}`, ...(ranks <= HELD_MAX ? ['--rank=-1'] : [])]);
  const now = app.keyOf(question);
  if (key !== laid) {
    laid = key;
    void app.ask('layout', layout).then(answer => {
      if (laid !== key || !answer) return;
      network = answer.code ? null : { ...JSON.parse(answer.out), key };
      if (network) network.byPort = new Map(network.links.map(link => [linkKey(link[0], link[1]), link]));
      app.draw();
    });
  }
  if (now !== asked) {
    asked = now;
    waiting = true;
    setTimeout(() => waiting && asked === now && byId('description').replaceChildren('working … ',
      cancelButton(app, 'picture')), SLOW_MS);
    void app.ask('picture', question).then(answer => {
      if (asked !== now) return;
      if (!answer) {
        waiting = false;
        if (byId('description').querySelector('button'))
          byId('description').textContent = 'cancelled; any change restarts it';
        return;
      }
      showProblem('picture', answer.code ? answer : null);
      picture = answer.code ? null : JSON.parse(answer.out);
      if (picture) {
        picture.network = key;
        picture.steps_drawn = (picture.message ?? []).map(readStep);
        busiest = picture.costs.length
          ? picture.bytes * Math.max(...picture.costs.map((/** @type {any} */ cost) => cost.link))
          : Math.max(0, ...picture.steps_drawn.map((/** @type {Step} */ step) => largestLoad(step, 'bytes')));
        if (state.step > lastStep()) {
          if (app.read)
            showProblem('step', `the address has step ${state.step}, expected 0 to ${lastStep()} of ${picture.name}`);
          state.step = lastStep();
        }
      }
      waiting = false;
      app.draw();
    });
  }
  if (isShown && (!waiting || state.view === 'network')) draw(app);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

const lastStep = () => Math.max(0, (picture?.steps ?? 1) - 1);

/** @param {App} app @param {number} step */
function go(app, step) {
  const last = lastStep();
  moved = true;
  app.set({ step: Math.max(0, Math.min(last, step)) });
}

function stop() {
  clearTimeout(playing);
  playing = 0;
  byId('play').setAttribute('aria-label', 'Play');
  byId('play').firstElementChild.firstElementChild.setAttribute('d', 'M5 3v10l8-5z');
}

/** @param {App} app */
function play(app) {
  const last = lastStep();
  byId('play').setAttribute('aria-label', 'Pause');
  byId('play').firstElementChild.firstElementChild.setAttribute('d', 'M4 3h3v10H4zM9 3h3v10H9z');
  const next = () => {
    playing = window.setTimeout(() => {
      if (app.state.step >= last || app.state.view !== 'schedule') stop();
      else {
        go(app, app.state.step + 1);
        next();
      }
    }, PACE_MS);
  };
  go(app, app.state.step >= last ? 0 : app.state.step);
  next();
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

/**
 * Returns the share of the data that a rank holds after `after` steps, 0 to 1.
 * @param {number} after
 */
function shares(after) {
  const { held, ranks, nodes } = picture;
  if (!held) return null;
  // a single rank has no steps
  const { columns, state } = held, text = state[Math.min(after, state.length - 1)], last = state[state.length - 1];
  // of the rank with the largest result
  const owned = Math.max(35, ...Array.from({ length: last.length / columns }, (_, row) => sumOf(last, row, columns)));
  return Array.from({ length: ranks }, (_, rank) => {
    const row = nodes ? nodes.indexOf(rank) : rank;
    return row < 0 ? 0 : Math.min(1, sumOf(text, row, columns) / owned);
  });
}

/** @param {App} app */
function draw(app) {
  const { state } = app, isSchedule = state.view === 'schedule';
  byId('svg').toggleAttribute('hidden', !network);
  byId('text').hidden = Boolean(network) || !picture;
  byId('transport').hidden = !isSchedule || !network;
  /** @type {Record<string, string>} */ const names = { ring: 'Circle', row: 'Row', grid: 'Grid', iso: 'Isometric' };
  byId('layouts').hidden = !network || network.forms.length < 2;
  segment(byId('layouts'), (network?.forms ?? []).map(key => ({ key, text: names[key] })), network?.form ?? '',
    layout => app.set({ layout }));
  drawTitle(app);
  if (!network) {
    byId('inspector').hidden = true;
    byId('description').textContent = '';
    byId('legend').replaceChildren();
    if (picture) showText(app);
    return;
  }
  showProblem('text', null);
  byId('inspector').hidden = false;
  const fits = picture?.network === network.key, step = isSchedule && fits ? stepNow(app) : NO_STEP;
  const share = isSchedule && fits ? shares(state.step + 1) : null;
  const chosen = state.rank >= 0 && state.rank < network.ranks ? state.rank : -1;
  const rank = chosen < 0 && !step.together ? network.middle : chosen;
  const scene = {
    network, step, rank, colours: picture?.colours ?? [], fault: app.file?.verdict.fault_rank ?? -1,
    scale: Math.max(busiest, largestLoad(step, 'bytes')), nodes: fits && picture.nodes ? new Set(picture.nodes) : null,
    fill: share ? (/** @type {number} */ one) => share[one] : null,
    play: isSchedule && !prefersReducedMotion() && moved,
  };
  shown = drawStage(byId('svg'), scene);
  byId('legend').replaceChildren(...legendOf(scene));
  moved = false;
  const last = lastStep();
  byId('step').max = String(last);
  byId('step').value = String(state.step);
  byId('step').setAttribute('aria-valuetext', `step ${state.step} of 0 to ${last}`);
  byId('step-text').textContent = !picture ? '' : picture.steps ? `step ${state.step} of 0–${last}` : 'no steps';
  byId('back').disabled = byId('first').disabled = state.step <= 0;
  byId('forward').disabled = state.step >= last;
  describePicture(app, step, rank);
  drawRank(app, step.messages);
  drawMatrix(isSchedule && fits ? picture : null, state.step, state.rank);
}

/** @param {App} app */
function drawTitle(app) {
  const isSchedule = app.state.view === 'schedule';
  const badge = (/** @type {string} */ text, kind = '') => element('span', { class: `badge ${kind}` }, text);
  const verdict = app.file?.verdict;
  if (!isSchedule || !picture) {
    byId('title').textContent = !network ? readTorus(app.state.torus) ? app.state.torus : 'No network'
      : `${network.noun[0].toUpperCase()}${network.noun.slice(1)} ${network.size.join('×')}`;
    byId('badges').replaceChildren();
    return;
  }
  byId('title').textContent = app.file ? `${picture.name} from ${app.file.name}` : picture.name;
  const badges = [...(app.file || app.state.collective === USUAL.collective ? [] : [badge(titleOf(app.state))]),
    badge(countText(picture.steps, 'step'))];
  if (!app.file) badges.push(badge(picture.exact ? 'exact' : 'covers'), ...(picture.collective === 'allreduce'
    ? [badge(picture.consistent ? 'same bits everywhere' : 'bits differ by rank')] : []));
  else if (verdict) badges.push(badge(verdict.verdict === 'WRONG' ? 'wrong' : `${verdict.verdict}: proved`,
    verdict.verdict === 'WRONG' ? 'bad' : 'good'));
  byId('badges').replaceChildren(...badges);
}

/**
 * Describes the picture in words, beside it and for screen readers.
 * @param {App} app
 * @param {Step} step
 * @param {number} rank whose arrows there are, or -1: all
 */
function describePicture(app, step, rank) {
  const { state } = app;
  if (state.view === 'network') {
    byId('description').textContent = 'The first click on a link slows it to a quarter, the second cuts it, '
      + 'the third restores it. Arrow keys select a rank.';
    return;
  }
  if (app.file?.verdict.reason) {
    byId('description').textContent = app.file.verdict.reason;
    return;
  }
  const list = step.messages;
  byId('description').textContent = !list.length ? ''
    : `${countText(list.length, 'message')} of up to ${bytesText(Math.max(...list.map(message => message.bytes)))}, `
      + `over up to ${countText(Math.max(...list.map(message => message.hops)), 'hop')}; the busiest link carries `
      + `${countText(largestLoad(step, 'count'), 'message')}, ${bytesText(largestLoad(step, 'bytes'))}.`
      + (rank >= 0 && state.rank < 0 ? ` Arrows: the messages of rank ${rank} as an example.` : '');
}

/**
 * Shows the tool's drawing as text where there is no picture.
 * @param {App} app
 */
function showText(app) {
  const question = questionFor('plan', app.state, app.file, scheduleOptions(app.state, app.file));
  if (picture.ranks > 1 << 20) {
    byId('text').textContent = [countText(picture.ranks, 'rank'), countText(picture.steps, 'step'),
      countText(picture.messages, 'message')].join(', ');
    return;
  }
  void app.ask('text', question).then(answer => {
    if (!answer) return;
    byId('text').textContent = answer.code ? '' : answer.out;
    showProblem('text', answer.code ? answer : null);
  });
}

/* ---- Beside the picture ------------------------------------------------------------------------------------------ */

/** @param {App} app @param {Message[]} list */
function drawRank(app, list) {
  const { state } = app, torus = /** @type {Network} */ (network), { rank } = state, box = byId('rank-body');
  if (rank < 0 || rank >= torus.ranks) {
    byId('rank-title').textContent = 'The network';
    const diameter = torus.size.reduce((sum, n, d) => sum + ((torus.lines >> d) & 1 ? n - 1 : Math.floor(n / 2)), 0);
    const facts = [['Ranks', torus.ranks.toLocaleString('en')],
      ...(picture?.nodes ? [['Nodes of the job', String(picture.nodes.length)]] : []),
      ['Directed links', torus.links.length.toLocaleString('en')], ['Diameter', countText(diameter, 'hop')]];
    if (state.view === 'schedule' && picture && !app.file)
      facts.push(['Messages', picture.messages.toLocaleString('en')], // the next three are those of a whole torus
        ...(picture.nodes || picture.collective !== 'allreduce' ? [] : [['Steps / log₃ n', picture.lambda.toFixed(2)],
        ['Sent per rank / 2m', picture.delta.toFixed(3)], ['Theta', picture.theta.toFixed(3)]]),
        ['Scratch registers', String(picture.registers - 1)]);
    box.replaceChildren(element('dl', { class: 'facts' },
      ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])),
      element('p', { class: 'hint' }, 'Select a rank to see its links and messages.'));
    return;
  }
  byId('rank-title').replaceChildren(`Rank ${rank}`,
    torus.size.length > 1 ? ` at ${coordinates(torus, rank).join(', ')} ` : ' ',
    element('button', { type: 'button', class: 'quiet', onclick: () => app.set({ rank: -1 }) }, 'all ranks'));
  if (state.view === 'network') {
    box.replaceChildren(linkTable(app, rank));
    return;
  }
  const sends = list.filter(message => message.from === rank), receives = list.filter(message => message.to === rank);
  const row = (/** @type {Message} */ message, out = true) => element('tr', {},
    element('td', {}, element('span', { class: 'key',
      style: `margin-left:0;background:${streamColour(picture, message.stream)}` }),
    out ? 'to' : 'from', ' ', String(out ? message.to : message.from)),
    element('td', {}, message.route), element('td', { class: 'n' }, bytesText(message.bytes)));
  const ports = new Set(sends.map(message => message.route.slice(0, 2))).size;
  const all = 2 * active(torus).length;
  box.replaceChildren(element('p', { class: 'hint' }, `${countText(ports, 'port')} of ${all} used in this step`),
    element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Messages of rank ${rank}` },
      tableOf(['Message', 'Route', 'Bytes'],
        [...sends.map(one => row(one)), ...receives.map(one => row(one, false))])));
}

const STATES = [{ key: '1', text: 'full speed' }, { key: '4', text: '4× slow' }, { key: '10', text: '10× slow' },
  { key: 'Infinity', text: 'cut' }];

/** @param {App} app @param {number} rank */
function linkTable(app, rank) {
  const rows = /** @type {Network} */ (network).links.filter(link => link[0] === rank).map(([, port, to]) => {
    const factor = linkAt(app, rank, port)?.factor ?? 1;
    return element('tr', {}, element('td', {}, portText(port)), element('td', {}, `rank ${to}`),
      element('td', { class: 'n' }, element('select', { class: 'mini', disabled: Boolean(app.file),
        'aria-label': `Link ${rank}:${portText(port)}`,
        onchange: (/** @type {any} */ event) => setLink(app, rank, port, Number(event.target.value)) },
      ...STATES.map(({ key, text }) => element('option', { value: key, selected: String(factor) === key }, text)))));
  });
  return tableOf(['Port', 'To', 'Link'], rows);
}

/** @param {string[]} columns the last is on the right @param {HTMLElement[]} rows */
const tableOf = (columns, rows) => element('table', {},
  element('thead', {}, element('tr', {}, ...columns.map((text, i) =>
    element('th', { class: i === columns.length - 1 ? 'n' : null }, text)))), element('tbody', {}, ...rows));

/** @param {number} rank @param {number} port */
const neighbour = (rank, port) => network?.byPort.get(linkKey(rank, port))?.[2] ?? -1;

/**
 * Returns the entry of a link. A cut link may be entered from its other end.
 * @param {App} app
 * @param {number} rank
 * @param {number} port
 */
function linkAt(app, rank, port) {
  const other = neighbour(rank, port);
  return app.state.links.find(link => (link.rank === rank && link.port === port)
    || (link.factor === Infinity && !link.oneWay && link.rank === other && link.port === opposite(port)));
}

/** @param {App} app @param {number} rank @param {number} port @param {number} factor */
function setLink(app, rank, port, factor) {
  if (app.file) return;
  const entry = linkAt(app, rank, port), other = neighbour(rank, port);
  const links = app.state.links.filter(link => link !== entry
    && !(factor === Infinity && link.rank === other && link.port === opposite(port)));
  if (factor > 1) links.push({ rank, port, factor });
  app.set({ links });
  toast(`Link ${rank}:${portText(port)} ${factor === 1 ? 'has full speed'
    : factor === Infinity ? 'is cut in both directions' : `is ${factor} times as slow`}`);
}

/* ---- Pointer and keys -------------------------------------------------------------------------------------------- */

/** @param {MouseEvent} event */
function under(event) {
  const matrix = byId('svg').getScreenCTM();
  return matrix && network
    && findAt(network, new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()));
}

/** @param {App} app @param {{rank: number, port: number}} found */
function describe(app, { rank, port }) {
  const torus = /** @type {Network} */ (network),
    step = app.state.view === 'schedule' && picture?.network === torus.key ? stepNow(app) : NO_STEP;
  if (port < 0) {
    const at = torus.size.length > 1 ? ` at ${coordinates(torus, rank).join(', ')}` : '';
    const sends = step.messages.filter((/** @type {Message} */ message) => message.from === rank),
      receives = step.messages.filter((/** @type {Message} */ message) => message.to === rank);
    const name = (/** @type {Message[]} */ some, /** @type {'from' | 'to'} */ end) => some.slice(0, 6)
      .map(message => message[end]).join(', ') + (some.length > 6 ? ' …' : '');
    return `Rank ${rank}${at}` + (sends.length ? `\nsends to ${name(sends, 'to')}` : '')
      + (receives.length ? `\nreceives from ${name(receives, 'from')}` : '');
  }
  const load = step.loads.get(linkKey(rank, port)), entry = linkAt(app, rank, port);
  return `Link ${rank}:${portText(port)} to rank ${neighbour(rank, port)}` +
    (entry ? `\n${entry.factor === Infinity ? 'cut' : `${entry.factor} times as slow`}` : '') +
    (load ? `\n${countText(load.count, 'message')}, ${bytesText(load.bytes)}` : '');
}

/** @param {App} app @param {PointerEvent} event */
function hover(app, event) {
  const at = event.target instanceof Element ? event.target.getAttribute('data-message') : null,
    message = at === null ? null : shown[Number(at)];
  if (message) {
    const { from, to, bytes, route, stream } = message;
    tip({ x: event.clientX, y: event.clientY },
      `From rank ${from} to rank ${to}\n${bytesText(bytes)} by ${route}, stream ${stream}`);
    return;
  }
  const found = under(event);
  tip(found ? { x: event.clientX, y: event.clientY } : null, found ? describe(app, found) : '');
}

/** @param {App} app @param {MouseEvent} event */
function click(app, event) {
  const found = under(event);
  if (!found) return;
  if (found.port < 0) {
    app.set({ rank: app.state.rank === found.rank ? -1 : found.rank });
  } else if (app.state.view === 'network') {
    const factor = linkAt(app, found.rank, found.port)?.factor ?? 1;
    setLink(app, found.rank, found.port, factor === 1 ? 4 : factor === Infinity ? 1 : Infinity);
  }
}

/**
 * Arrow keys select ranks, Page Up and Page Down move along the outermost dimension, comma and period select steps.
 * @param {App} app
 * @param {KeyboardEvent} event
 */
function key(app, event) {
  const torus = network;
  if (!torus || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ',' || event.key === '.') {
    go(app, app.state.step + (event.key === '.' ? 1 : -1));
    return;
  }
  if (event.key === 'Escape') {
    app.set({ rank: -1 });
    return;
  }
  const dims = active(torus).slice().reverse();
  const moves = /** @type {Record<string, [number, number]>} */ ({ ArrowRight: [0, 1], ArrowLeft: [0, -1],
    ArrowDown: [1, 1], ArrowUp: [1, -1], PageDown: [2, 1], PageUp: [2, -1] });
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  const [which, sign] = dims.length === 1 ? [0, move[1]] : move, d = dims[which];
  if (d === undefined) return;
  const next = neighbour(app.state.rank, portOf(d, sign)),
    rank = next < 0 ? Math.max(0, app.state.rank) : next;
  app.set({ rank });
  byId('description').textContent = describe(app, { rank, port: -1 }).replaceAll('\n', ', ');
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/**
 * @typedef {object} UserFile
 * @property {number} id unique for every opened file, whatever its name
 * @property {string} name
 * @property {Uint8Array} bytes
 * @property {any} verdict the result of `verify`
 */

let opened = 0;

/**
 * Verifies a file and shows it, with its first fault. The page is unchanged until then, and if the file is not a
 * schedule.
 * @param {App} app
 * @param {string} given its name
 * @param {Uint8Array} bytes
 */
export async function openFile(app, given, bytes) {
  const name = given.replace(/[\0-\x1f\x7f/]/g, '_').replace(/^-$/, './-'), card = byId('file-card'), id = ++opened;
  card.hidden = false;
  card.replaceChildren(element('p', { class: 'hint' }, `verifying ${name} … `), cancelButton(app, 'file'));
  const answer = await app.ask('file', ['verify', `--schedule=${name}`, '--format=json'],
    { files: new Map([[name, bytes]]) });
  if (id !== opened) return; // another file was opened meanwhile
  if (answer && answer.code !== 2) {
    const [verdict] = JSON.parse(answer.out), wrong = verdict.verdict === 'WRONG';
    app.file = { id, name, bytes, verdict };
    app.set({ view: 'schedule', step: wrong ? Math.max(0, verdict.fault_step) : 0,
      rank: wrong ? verdict.fault_rank : -1, timeline: '' });
  }
  showProblem('open', answer?.code === 2 ? answer : null);
  showProblem('file', app.file?.verdict.reason ?? null);
  drawFileCard(app);
}

/** @param {App} app */
function drawFileCard(app) {
  const card = byId('file-card'), { file } = app;
  card.hidden = !file;
  if (!file) return;
  const { verdict } = file;
  card.replaceChildren(element('strong', {}, file.name), element('p', { class: 'hint' },
    verdict.verdict === 'WRONG' ? 'does not have the properties that it claims; the rank of its first fault is marked.'
    : `${verdict.verdict}, ${verdict.consistent ? 'and the same bits on every rank' : 'bits differ by rank'}: proved.`),
  element('p', { class: 'hint' }, 'The address of the page does not contain the file; send both.'),
  element('button', { type: 'button', class: 'quiet', onclick: () => {
    app.file = null;
    opened++;
    app.cancel('file');
    showProblem('file', null);
    drawFileCard(app);
    app.set({ step: 0, rank: -1, timeline: '' });
  } }, 'Close the file'));
}
