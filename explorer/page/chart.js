/*
 * The view Time: completion time by size, simulated packet by packet in workers. Small sizes of all algorithms are
 * simulated first, so that the chart has its form early. Simulations can be cancelled; completed results are kept.
 */
import table from 'explorer:algorithms';
import uPlot from '../vendor/uplot/uPlot.esm.js';
import { showProblem, tip } from './app.js';
import { byId, colour, element, legendEntry, segment } from './dom.js';
import { bytesArgument, bytesText, timeText } from './format.js';
import { Cancelled, sentenceOf } from './pool.js';
import { chartOf, chartRange, chartSizes, collectiveOptions, networkOptions, questionFor, scheduleOptions, titleOf,
  USUAL } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {{time: number, name: string, limit: number} | {error: string}} Point */

const TOGETHER = 512 << 10; // all sizes up to this one are simulated by one request
const WAIT_MS = 120, NAMES_WIDTH = 150;
/** @type {Record<string, string>} */
export const QUEUES = { fifo: 'one queue per link', dateline: 'two channels per link' };
const OTHERS = ['--c6', '--c7', '--c8', '--v4', '--v2', '--v0', '--v5'];
export const MOST = [256 << 10, 1 << 20, 8 << 20, 64 << 20, 512 << 20];

/** @type {Map<string, Point>} by "algorithm bytes" */ let points = new Map();
let context = '', timer = 0, drawnKey = '';
/** @type {AbortController | null} */ let running = null;
let cancelled = ''; // the requested chart when the user cancelled it
/** @type {uPlot | null} */ let plot = null;
/** @type {{weight: number, done: number}[]} */ let work = [];

/** @param {string} name with or without parameters, or a family */
const familyOf = name => table.find(one => one.name === name.split(':')[0])?.family ?? name;

/**
 * Returns the colour of the algorithm's family, the same as in the figures, or, if it has none, another one.
 * @param {App} app
 * @param {string} name
 */
function lineColour(app, name) {
  const index = Math.max(0, offeredOf(app).indexOf(name));
  const family = familyOf(name),
    number = name === 'planned' ? 0 : table.find(one => one.family === family && one.colour)?.colour;
  return number === undefined ? OTHERS[index % OTHERS.length] : `--c${number}`;
}

/**
 * Returns the names of the compared algorithms.
 * @param {App} app
 */
const namesOf = app => (app.file ? [app.file.name] : app.state.nodes ? ['planned'] : chartOf(app.state));
/**
 * Returns the names that can be chosen.
 * @param {App} app
 */
const offeredOf = app => [...new Set([...chartOf({ ...app.state, chart: USUAL.chart }), ...chartOf(app.state),
  ...(app.state.algorithm && !/^all$|,/.test(app.state.algorithm) ? [app.state.algorithm] : [])])];
/**
 * Returns the names that are not known to fail. A command with a failing name would print only its error.
 * @param {App} app
 */
export function chartNames(app) {
  const good = namesOf(app).filter(name => chartSizes(app.state)
    .some(bytes => { const point = pointOf(name, bytes); return !point || !('error' in point); }));
  return good.length ? good : namesOf(app);
}

/**
 * Whether the times are those of plans for a set of nodes.
 * @param {App} app
 */
const isSet = app => Boolean(app.state.nodes && !app.file);

/**
 * Returns the model of a link's queues.
 * @param {App} app
 */
export const modelOf = app => (isSet(app) ? 'fifo' : app.state.model);

const pointOf = (/** @type {string} */ name, /** @type {number} */ bytes) => points.get(`${name} ${bytes}`);

/** @param {App} app */
export function makeChart(app) {
  byId('most').append(...MOST.map(bytes => element('option', { value: bytes }, bytesText(bytes))));
  byId('most').onchange = () => app.set({ most: Number(byId('most').value) });
  byId('cancel').onclick = () => {
    stop();
    clearTimeout(timer);
    cancelled = requestedChart(app);
    byId('running-text').textContent = 'cancelled; any change continues';
  };
  new ResizeObserver(() => {
    if (plot && byId('chart').clientWidth > 0) plot.setSize(sizeOf());
  }).observe(byId('chart'));
  app.views.push(() => update(app));
}

const sizeOf = () =>
  ({ width: Math.max(280, byId('chart').clientWidth), height: Math.max(300, Math.min(480, innerHeight * .5)) });

/** @param {App} app */
function update(app) {
  const { state } = app, shown = state.view === 'time';
  byId('time').hidden = !shown;
  if (!shown) {
    stop();
    clearTimeout(timer);
    cancelled = '';
    showProblem('chart', null);
    return;
  }
  segment(byId('scale'), [{ key: 'time', text: 'Time' },
    { key: 'limit', text: '× limit', title: 'as a multiple of the lower bound for all schedules' },
    { key: 'relative', text: `vs ${namesOf(app)[0] ?? ''}` }], state.scale, scale => app.set({ scale }));
  const model = modelOf(app);
  byId('time-title').textContent =
    `${app.file || state.collective === USUAL.collective ? 'Completion time' : titleOf(state)}, ${QUEUES[model]}`;
  byId('model').hidden = isSet(app); // sets of nodes are planned with one queue per link
  segment(byId('model'), [{ key: 'fifo', text: 'fifo', title: 'one queue per link: the ideal router' },
    { key: 'dateline', text: 'dateline', title: 'two channels, as torus routers have' }],
    model, key => app.set({ model: key }));
  const { most } = chartRange(state);
  if (!byId('most').querySelector(`[value="${most}"]`))
    byId('most').append(element('option', { value: most }, bytesText(most)));
  byId('most').value = String(most);
  drawChips(app);
  const now =
    app.keyOf([app.file ? '' : state.torus, model, state.nodes, ...collectiveOptions(state), ...networkOptions(state)]);
  if (now !== context) {
    context = now;
    points = new Map();
    showProblem('chart', null);
    stop();
  }
  draw(app);
  clearTimeout(timer);
  if (requestedChart(app) === cancelled) return; // redrawn for another reason, such as an answer
  cancelled = '';
  timer = window.setTimeout(() => void simulate(app), points.size ? 0 : WAIT_MS);
}

/**
 * Describes the requested chart, to distinguish a change from a redraw.
 * @param {App} app
 */
const requestedChart = app => [context, ...namesOf(app), ...chartSizes(app.state)].join(' ');

/** @param {App} app */
function drawChips(app) {
  const { state } = app, offered = offeredOf(app), chosen = chartOf(state);
  if (app.file || state.nodes) {
    byId('chips').replaceChildren(...namesOf(app).map(name => element('span',
      { class: 'chip', style: `--colour:var(${lineColour(app, name)})` }, element('i'), name)));
    return;
  }
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.name : undefined;
  byId('chips').replaceChildren(...offered.map(name => element('button',
    { type: 'button', class: 'chip', 'data-name': name, 'aria-pressed': String(chosen.includes(name)),
    style: `--colour:var(${lineColour(app, name)})`,
    onclick: () => app.set({ chart: chosen.includes(name) ? chosen.filter(other => other !== name)
    : [...chosen, name] }) }, element('i'), name)));
  if (focused) byId('chips').querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
}

/* ---- Simulating -------------------------------------------------------------------------------------------------- */

function stop() {
  running?.abort();
  running = null;
  byId('cancel').hidden = true;
}

function showProgress() {
  const all = work.reduce((sum, one) => sum + one.weight, 0),
    done = work.reduce((sum, one) => sum + one.weight * one.done, 0);
  const finished = work.every(one => one.done === 1);
  byId('progress').value = all > 0 ? done / all : 1;
  byId('progress').hidden = finished;
  byId('cancel').hidden = finished;
  byId('running-text').textContent = finished ? ''
    : `simulating ${work.filter(one => one.done < 1).length} of ${work.length}`;
}

/**
 * Simulates all missing points.
 * @param {App} app
 */
async function simulate(app) {
  const { state } = app, sizes = chartSizes(state),
    together = isSet(app) ? 0 : chartRange(state).factor > 4 ? TOGETHER / 64 : TOGETHER;
  const missing = (/** @type {string} */ name) => sizes.filter(bytes => !pointOf(name, bytes));
  /** @type {{name: string, sizes: number[]}[]} */ const jobs = [];
  for (const name of namesOf(app)) {
    const some = missing(name), small = some.filter(bytes => bytes <= together);
    if (small.length) jobs.push({ name, sizes: small });
    for (const bytes of some.filter(one => one > together)) jobs.push({ name, sizes: [bytes] });
  }
  if (!jobs.length || (running && jobs.every(job => job.sizes.every(bytes => inWork.has(`${job.name} ${bytes}`)))))
    return;
  stop();
  const controller = running = new AbortController();
  jobs.sort((a, b) => a.sizes[a.sizes.length - 1] - b.sizes[b.sizes.length - 1]);
  inWork = new Set(jobs.flatMap(job => job.sizes.map(bytes => `${job.name} ${bytes}`)));
  work = jobs.map(job => ({ weight: job.sizes.reduce((sum, bytes) => sum + bytes + 50000, 0), done: 0 }));
  showProgress();
  const began = performance.now();
  await Promise.all(jobs.map((job, j) => simulateOne(app, job, controller.signal, work[j])));
  if (running !== controller) return;
  running = null;
  byId('chart').dataset.took = String(Math.round(performance.now() - began));
  byId('chart').dataset.done = context;
  showProgress();
  app.draw(); // all names that fail are known now
}

/** @type {Set<string>} */ let inWork = new Set();

/**
 * @param {App} app
 * @param {{name: string, sizes: number[]}} job
 * @param {AbortSignal} signal
 * @param {{weight: number, done: number}} share
 */
async function simulateOne(app, job, signal, share) {
  const { state } = app;
  const question = isSet(app)
    ? questionFor('plan', state, null, [...scheduleOptions({ ...state, bytes: job.sizes[0] }, null), '--format=json'])
    : questionFor('simulate', state, app.file,
    [`--algorithm=${job.name}`, ...collectiveOptions(state), `--bytes=${job.sizes.map(bytesArgument).join(',')}`,
    `--model=${state.model}`, ...(app.file ? [] : ['--limit']), ...networkOptions(state), '--format=json']);
  try {
    const answer = await app.busy.ask(question, { files: app.files, signal, progress: fraction => {
      share.done = Math.min(.99, fraction);
      showProgress();
    } });
    if (signal.aborted) return;
    share.done = 1;
    if (answer.code) {
      const error = sentenceOf(answer);
      for (const size of job.sizes) points.set(`${job.name} ${size}`, { error });
    } else if (isSet(app)) {
      const [best] = JSON.parse(answer.out);
      points.set(`${job.name} ${job.sizes[0]}`, { time: best.time_ns, name: best.plan, limit: NaN });
    } else {
      for (const row of JSON.parse(answer.out))
        points.set(`${job.name} ${row.bytes}`, row.time_ns === null ? { error: row.error }
        : { time: row.time_ns, name: row.algorithm, limit: row.limit_ns ?? NaN });
    }
    showProgress();
    drawSoon(app);
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
  }
}

let drawing = false;
/**
 * Draws all results since the last frame together.
 * @param {App} app
 */
function drawSoon(app) {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw(app);
  });
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

/** @param {App} app */
function draw(app) {
  if (app.state.view !== 'time') return; // a late answer
  const { state } = app, sizes = chartSizes(state), names = namesOf(app);
  const time = (/** @type {string} */ name, /** @type {number} */ bytes) => {
    const point = pointOf(name, bytes);
    return point && 'time' in point ? point.time : null;
  };
  const limits = sizes.map(bytes => names.map(name => pointOf(name, bytes))
    .map(point => (point && 'limit' in point ? point.limit : NaN)).find(Number.isFinite) ?? null);
  const base = (/** @type {number} */ i) => (state.scale === 'limit' ? limits[i] : state.scale === 'relative'
    ? time(names[0], sizes[i]) : null);
  const value = (/** @type {number | null} */ ns, /** @type {number} */ i) => {
    if (ns === null || state.scale === 'time') return ns === null ? null : ns / 1e3;
    const to = base(i);
    return to ? (state.scale === 'limit' ? ns / to : 100 * (ns / to - 1)) : null;
  };
  const lines = names.map(name => sizes.map((bytes, i) => value(time(name, bytes), i)));
  const limit = limits.map((ns, i) => value(ns, i));
  const key = [names.join(), sizes.join(), state.scale, document.documentElement.dataset.theme].join(';');
  if (key !== drawnKey || !plot) {
    plot?.destroy();
    plot = makePlot(app, names, sizes, state.scale);
    drawnKey = key;
  }
  plot.setData(/** @type {any} */ ([sizes, ...lines, limit]));
  drawTable(app, names, sizes, limits);
  const errors = [...new Set(names.flatMap(name => sizes.map(bytes => pointOf(name, bytes))
    .flatMap(point => (point && 'error' in point ? [point.error] : []))))];
  const none = names.length > 0 && names.every(name =>
    sizes.every(bytes => { const point = pointOf(name, bytes); return point && 'error' in point; }));
  showProblem('chart', none ? errors[0] : null);
  byId('chart-legend').replaceChildren(...(none ? [] : [
    ...(limits.some(ns => ns !== null) ? [legendEntry(['--muted'], 'limit, a lower bound for all schedules', 'dots')]
    : []),
    ...(names.includes('planned') && changesOf('planned', sizes).length > 1
    ? [legendEntry(['--muted'], 'the plan changes', 'upright')] : [])]));
  byId('chart-text').textContent = none ? '' : names.length ? [changesText(names, sizes),
    ...errors.map(error => `Left out: ${error}.`)].filter(Boolean).join(' ') : 'Choose an algorithm to compare.';
}

/**
 * Lists the sizes at which the plan, or the better member of a family, changes.
 * @param {string} name
 * @param {number[]} sizes
 */
function changesOf(name, sizes) {
  const changes = [];
  let before = '';
  for (const bytes of sizes) {
    const point = pointOf(name, bytes);
    if (!point || !('name' in point)) continue;
    if (point.name !== before) changes.push({ bytes, name: point.name });
    before = point.name;
  }
  return changes;
}

/** @param {string[]} names @param {number[]} sizes */
function changesText(names, sizes) {
  const changes = names.includes('planned') ? changesOf('planned', sizes) : [];
  return changes.length
    ? `The plan: ${changes.map(({ bytes, name }, i) => `${name}${i ? ` from ${bytesText(bytes)}` : ''}`).join(', ')}.`
    : '';
}

/**
 * Returns the range of a logarithmic axis: that of the data, with some space.
 * @param {any} _u @param {number | null} low @param {number | null} high @returns {[number | null, number | null]}
 */
const fitted = (_u, low, high) => (low === null || high === null || low <= 0 ? [1, 10] : [low / 1.2, high * 1.2]);

/**
 * Returns the ticks of a logarithmic axis: 1, 2 and 5 in every decade, or, if these are too few, multiples of a round
 * number.
 * @param {number} low
 * @param {number} high
 */
function logTicks(low, high) {
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10)
    for (const digit of [1, 2, 5]) ticks.push(Number((decade * digit).toPrecision(1)));
  const inside = ticks.filter(tick => tick >= low && tick <= high);
  if (inside.length > 2) return inside;
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough)),
    step = power * ([1, 2, 5].find(digit => digit * power >= rough) ?? 10);
  return Array.from({ length: 12 }, (_, i) => Number(((Math.ceil(low / step) + i) * step).toPrecision(6)))
    .filter(tick => tick <= high);
}

/** @param {App} app @param {string[]} names @param {number[]} sizes @param {string} scale */
function makePlot(app, names, sizes, scale) {
  const ink = colour('--muted'), grid = colour('--grid'), font = '12px system-ui, sans-serif',
    log = scale !== 'relative';
  /** @type {any} */ const options = {
    ...sizeOf(),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 9 } },
    scales: { x: { distr: 3, log: 2, time: false },
      y: { distr: log ? 3 : 1, log: 10, ...(log ? { range: fitted } : {}) } },
    axes: [
      // the simulated sizes, as many as fit
      { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid },
        splits: (/** @type {any} */ u) => sizes.filter((_, i) => i % Math.ceil(sizes.length * 52 / u.width) === 0),
        filter: (/** @type {any} */ _u, /** @type {number[]} */ ticks) => ticks,
        values: (/** @type {any} */ _u, /** @type {number[]} */ ticks) =>
          ticks.map(tick => bytesText(tick).replace('iB', '').replace(' B', '').replace(' ', '')) },
      { stroke: ink, font, size: log ? 64 : 78, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid },
        ...(log
          ? { splits: (/** @type {any[]} */ ...[, , low, high]) => logTicks(low, high),
            filter: (/** @type {any[]} */ ...[, ticks]) => ticks } : {}),
        values: (/** @type {any} */ _u, /** @type {number[]} */ ticks) =>
          ticks.map(tick => (tick === null ? '' : scale === 'time' ? timeText(tick * 1e3)
            : scale === 'limit' ? `${Number(tick.toPrecision(3))}×` : `${tick > 0 ? '+' : ''}${tick} %`)) },
    ],
    series: [{}, ...names.map(name => ({ label: name, stroke: colour(lineColour(app, name)), width: 2.2,
      points: { show: true, size: 6, fill: colour('--card') } })),
    { label: 'limit', stroke: ink, width: 1.4, dash: [3, 5], points: { show: false } }],
    hooks: {
      draw: [(/** @type {any} */ u) => drawChanges(u, names)],
      setCursor: [(/** @type {any} */ u) => hover(u, names)],
      ready: [(/** @type {any} */ u) => u.over.addEventListener('click', () => {
        const found = nearestTo(u, names);
        if (found) app.set({ timeline: `${names[found.line]}@${bytesArgument(u.data[0][found.i])}` });
      })],
    },
  };
  byId('chart').replaceChildren();
  return new uPlot(options, /** @type {any} */ ([[], ...names.map(() => []), []]), byId('chart'));
}

/** @param {any} u @param {string[]} names */
function drawChanges(u, names) {
  if (!names.includes('planned')) return;
  const changes = changesOf('planned', u.data[0]);
  u.ctx.save();
  u.ctx.strokeStyle = colour('--muted');
  u.ctx.setLineDash([2 * devicePixelRatio, 5 * devicePixelRatio]);
  for (const { bytes } of changes.slice(1)) {
    const x = u.valToPos(bytes, 'x', true);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
  }
  u.ctx.restore();
}

/** @param {any} u @param {string[]} names */
function nearestTo(u, names) {
  const { idx: i, top } = u.cursor;
  if (i === null || i === undefined || top < 0) return null;
  let best = null, nearest = Infinity;
  names.forEach((_, line) => {
    const y = u.data[line + 1][i];
    if (y === null || y === undefined) return;
    const distance = Math.abs(u.valToPos(y, 'y') - top);
    if (distance < nearest) {
      nearest = distance;
      best = { line, i };
    }
  });
  return /** @type {{line: number, i: number} | null} */ (best);
}

/** @param {any} u @param {string[]} names */
function hover(u, names) {
  const found = nearestTo(u, names);
  if (!found || u.cursor.left < 0) {
    tip(null);
    return;
  }
  const bytes = u.data[0][found.i], box = u.over.getBoundingClientRect();
  const rows = names.map(name => ({ name, point: pointOf(name, bytes) }))
    .filter(row => row.point && 'time' in row.point)
    .sort((a, b) => /** @type {any} */ (a.point).time - /** @type {any} */ (b.point).time)
    .map(({ name, point }) => {
      const { time, name: plan } = /** @type {any} */ (point);
      return `${name === names[found.line] ? '▸' : ' '} ${timeText(time)}  ${name}${plan !== name ? ` (${plan})` : ''}`;
    });
  tip({ x: box.left + u.cursor.left, y: box.top + u.cursor.top },
    `${bytesText(bytes)}\n${rows.join('\n')}\nclick: its timeline`);
}

/**
 * Writes the table of all times, each with a button for its timeline. It replaces the chart for users without a
 * pointer.
 * @param {App} app
 * @param {string[]} names
 * @param {number[]} sizes
 * @param {(number | null)[]} limits
 */
function drawTable(app, names, sizes, limits) {
  if (!byId('table-box').open && byId('times').children.length && running) return;
  const rows = sizes.map((bytes, i) => {
    const times = names.map(name => pointOf(name, bytes)),
      best = Math.min(...times.map(point => (point && 'time' in point ? point.time : Infinity)));
    return element('tr', {}, element('th', { scope: 'row' }, bytesText(bytes)), ...times.map((point, line) => {
      if (!point || !('time' in point)) return element('td', { class: 'n' }, point ? '–' : '');
      const onclick = () => app.set({ timeline: `${names[line]}@${bytesArgument(bytes)}` });
      return element('td', { class: point.time === best ? 'n best' : 'n' }, element('button', { type: 'button', onclick,
        title: `${point.name}: ${point.time} ns; show the timeline` }, timeText(point.time)));
    }), element('td', { class: 'n' }, limits[i] === null ? '' : timeText(/** @type {number} */ (limits[i]))));
  });
  byId('times').replaceChildren(element('thead', {}, element('tr', {}, ...['Size', ...names, 'limit'].map((name, i) =>
    element('th', { class: i ? 'n' : null, scope: 'col' }, name)))), element('tbody', {}, ...rows));
}

/* ---- For saving -------------------------------------------------------------------------------------------------- */

/**
 * Returns all times as CSV.
 * @param {App} app
 */
export function timesAsCsv(app) {
  const lines = ['torus,collective,algorithm,chosen_for,model,bytes,time_ns,limit_ns'];
  for (const name of namesOf(app))
    for (const bytes of chartSizes(app.state)) {
      const point = pointOf(name, bytes);
      if (point && 'time' in point)
        lines.push([app.file ? '' : app.state.torus, app.file ? '' : app.state.collective, point.name, name,
        modelOf(app), bytes, point.time, Number.isFinite(point.limit) ? point.limit
        : ''].map(cell => (/[",]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell)).join(','));
    }
  return `${lines.join('\n')}\n`;
}

/** The chart as SVG: the plot's own lines, axes and names. */
export function chartAsSvg() {
  if (!plot) return '';
  const u = /** @type {any} */ (plot), { width, height } = u, left = u.bbox.left / devicePixelRatio,
    top = u.bbox.top / devicePixelRatio;
  const w = u.bbox.width / devicePixelRatio, h = u.bbox.height / devicePixelRatio, text = [];
  /** @type {{y: number, text: string}[]} */ const names = [];
  const escape = (/** @type {string} */ some) => some.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  for (const [axis, horizontal] of /** @type {const} */ ([[u.axes[0], true], [u.axes[1], false]]))
    axis._splits.forEach((/** @type {number} */ split, /** @type {number} */ i) => {
      const label = axis._values[i];
      if (!label || split === null) return;
      const at = u.valToPos(split, horizontal ? 'x' : 'y') + (horizontal ? left : top);
      const [line, x, y, anchor] = horizontal ? [`M${at} ${top}V${top + h}`, at, top + h + 18, 'middle']
        : [`M${left} ${at}H${left + w}`, left - 8, at + 4, 'end'];
      text.push(`<path d="${line}" stroke="${colour('--grid')}"/>`,
        `<text x="${x}" y="${y}" text-anchor="${anchor}">${escape(label)}</text>`);
    });
  for (let s = 1; s < u.series.length; s++) {
    const series = u.series[s], places = u.data[s].flatMap((/** @type {number | null} */ y, /** @type {number} */ i) =>
      ((y ?? null) === null ? [] : [[left + u.valToPos(u.data[0][i], 'x'), top + u.valToPos(y, 'y')]]));
    if (!places.length) continue;
    const stroke = series._stroke ?? series.stroke(), limit = series.label === 'limit';
    const points = places.map((/** @type {number[]} */ p) => p.map(v => v.toFixed(1)).join()).join(' ');
    text.push(`<polyline points="${points}" fill="none" stroke="${stroke}" `,
      limit ? 'stroke-width="1.4" stroke-dasharray="3 5"/>' : 'stroke-width="2.2"/>');
    names.push({ y: places[places.length - 1][1], text: `fill="${stroke}">${escape(series.label)}</text>` });
  }
  names.sort((a, b) => a.y - b.y).forEach((name, i) => { // at the ends of their lines, without overlap
    if (i) name.y = Math.max(name.y, names[i - 1].y + 14);
  });
  text.push(...names.map(name => `<text x="${left + w + 8}" y="${name.y + 4}" ${name.text}`));
  const all = width + NAMES_WIDTH;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${all}" height="${height}" viewBox="0 0 ${all} ${height}" `
    + `font-family="system-ui, sans-serif" font-size="12" fill="${colour('--muted')}">`
    + `<rect width="100%" height="100%" fill="${colour('--card')}"/>${text.join('')}</svg>\n`;
}

