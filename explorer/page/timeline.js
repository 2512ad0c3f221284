/*
 * The timeline of one simulation: a row per rank, in the colour of its current step, or a row per link, with the
 * intervals in which it carries packets. Dragging zooms in.
 */
import { cancelButton, tip } from './app.js';
import { modelOf, QUEUES } from './chart.js';
import { byId, colour, legendEntry, segment } from './dom.js';
import { bytesText, countText, parseBytes, timeText } from './format.js';
import { sentenceOf } from './pool.js';
import { collectiveOptions, networkOptions, questionFor } from './state.js';
import { portText } from './torus.js';

/** @typedef {import('./app.js').App} App */
/**
 * @typedef {{row: number, begin: number, end: number, step: number, stream: number, rank: number, port: number}} Bar
 */

const TICKS = 6, AXIS = 24, HUES = ['--v1', '--v3', '--v5', '--c1', '--v2', '--v4', '--v6', '--c4'];
/** @type {any} */ let data = null;
/** @type {Bar[]} */ let bars = [];
let asked = '', what = 'ranks', rows = 1, from = 0, to = 1;
/** @type {{x: number, now: number} | null} */ let drag = null;

/** @param {App} app */
export function makeTimeline(app) {
  const canvas = byId('timeline');
  app.views.push(() => update(app));
  new ResizeObserver(draw).observe(canvas);
  byId('zoom-in').onclick = () => zoom(.5);
  byId('zoom-out').onclick = () => zoom(2);
  byId('zoom-all').onclick = () => zoom(Infinity);
  canvas.addEventListener('dblclick', () => zoom(Infinity));
  canvas.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
    drag = { x: place(event).x, now: place(event).x };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (/** @type {PointerEvent} */ event) => {
    if (drag) {
      drag.now = place(event).x;
      draw();
    } else hover(event);
  });
  canvas.addEventListener('pointerup', () => {
    if (!drag) return;
    const [a, b] = [Math.min(drag.x, drag.now), Math.max(drag.x, drag.now)].map(x => from + x * (to - from));
    if (Math.abs(drag.x - drag.now) > .01) [from, to] = [a, b];
    drag = null;
    draw();
  });
  canvas.addEventListener('pointerleave', () => tip(null));
  canvas.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const width = to - from;
    if (event.key === '+' || event.key === '=') zoom(.5);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0') zoom(Infinity);
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      const by = Math.max(-from,
        Math.min(data ? data.time_ns - to : 0, (event.key === 'ArrowLeft' ? -.2 : .2) * width));
      from += by;
      to += by;
      event.preventDefault();
      draw();
    }
  });
}

/** @param {number} factor */
function zoom(factor) {
  if (!data) return;
  const middle = (from + to) / 2, half = Math.min(data.time_ns, factor * (to - from)) / 2;
  from = factor === Infinity ? 0 : Math.max(0, middle - half);
  to = factor === Infinity ? data.time_ns : Math.min(data.time_ns, from + 2 * half);
  draw();
}

/** @param {App} app */
function update(app) {
  const { state } = app, card = byId('timeline-card'), at = state.timeline.lastIndexOf('@'),
    bytes = parseBytes(state.timeline.slice(at + 1));
  card.hidden = at < 1 || !bytes || state.view !== 'time';
  if (card.hidden || !bytes) {
    if (asked) app.cancel('timeline');
    asked = '';
    return;
  }
  const name = state.timeline.slice(0, at);
  segment(byId('timeline-what'), [{ key: 'ranks', text: 'Ranks' }, { key: 'links', text: 'Links' }], what, key => {
    what = key;
    arrange();
    app.draw();
  });
  const question = questionFor('timeline', state, app.file,
    [...(state.nodes && !app.file ? [`--nodes=${state.nodes}`] : []), `--algorithm=${name}`,
    ...collectiveOptions(state), `--bytes=${bytes}`, `--model=${modelOf(app)}`, ...networkOptions(state)]);
  const now = app.keyOf(question);
  if (now === asked) {
    draw();
    return;
  }
  asked = now;
  byId('timeline-title').textContent = `Timeline: ${name}, ${bytesText(bytes)}, ${QUEUES[modelOf(app)]}`;
  byId('timeline-text').replaceChildren('simulating … ', cancelButton(app, 'timeline'));
  void app.ask('timeline', question).then(answer => {
    if (asked !== now) return;
    if (!answer) {
      byId('timeline-text').textContent = 'cancelled; any change restarts it';
      data = null;
      arrange();
      draw();
      return;
    }
    data = answer.code ? null : JSON.parse(answer.out);
    byId('timeline-text').textContent = answer.code ? sentenceOf(answer)
      : `${data.name}: ${timeText(data.time_ns)}, ${countText(data.packets, 'packet')}. `
        + 'Drag over an interval to zoom in, or use + − 0 and the arrow keys.';
    byId('timeline').setAttribute('aria-label',
      `Timeline of ${data?.name ?? name}, ${bytesText(bytes)}: ${data ? timeText(data.time_ns) : 'none'}`);
    from = 0;
    to = data?.time_ns ?? 1;
    arrange();
    draw();
    if (!answer.code) byId('timeline-card').scrollIntoView({ block: 'nearest' });
  });
}

/** Arranges the bars in rows; the streams of a rank share its row. */
function arrange() {
  bars = [];
  rows = 1;
  drawLegend();
  if (!data) return;
  if (what === 'ranks') {
    for (const [rank, stream, step, begin, end] of data.steps) {
      bars.push({ row: rank + stream / data.streams, begin, end, step, stream, rank, port: -1 });
      rows = Math.max(rows, rank + 1);
    }
    return;
  }
  const links = [...new Set(data.links.map((/** @type {number[]} */ [rank, port]) => rank * 16 + port))]
    .sort((a, b) => Number(a) - Number(b));
  const rowOf = new Map(links.map((link, row) => [link, row]));
  for (const [rank, port, begin, end] of data.links)
    bars.push({ row: rowOf.get(rank * 16 + port) ?? 0, begin, end, step: port, stream: 0, rank, port });
  rows = Math.max(1, links.length);
}

/** The colours of the bars: steps, or the ports of links. */
function drawLegend() {
  const keys = data ? [...new Set((what === 'ranks' ? data.steps : data.links)
    .map((/** @type {number[]} */ row) => row[what === 'ranks' ? 2 : 1]))].sort((a, b) => a - b) : [];
  const nameOf = (/** @type {number} */ key) => (what === 'ranks' ? `step ${key}` : `port ${portText(key)}`);
  byId('timeline-legend').replaceChildren(...HUES.flatMap((name, hue) => {
    const same = keys.filter(key => key % HUES.length === hue);
    return same.length ? [legendEntry([name],
      nameOf(same[0]) + same.slice(1, 3).map(key => `, ${key}`).join('') + (same.length > 3 ? ', …' : ''))] : [];
  }), ...(what === 'ranks' && data?.streams > 1 ? ['paler: streams with an odd number'] : []));
}

function draw() {
  const canvas = byId('timeline'), width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width || byId('timeline-card').hidden) return;
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  const context = canvas.getContext('2d');
  context.scale(devicePixelRatio, devicePixelRatio);
  context.clearRect(0, 0, width, height);
  if (!data) return;
  const tall = (height - AXIS) / rows, part = what === 'ranks' ? tall / data.streams : tall,
    gap = part > 5 ? 1 : part > 2.5 ? .5 : 0;
  const hues = HUES.map(colour), x = (/** @type {number} */ ns) => width * (ns - from) / (to - from);
  for (const bar of bars) {
    if (bar.end < from || bar.begin > to) continue;
    context.fillStyle = hues[bar.step % hues.length];
    context.globalAlpha = bar.stream % 2 ? .72 : 1;
    const left = Math.max(0, x(bar.begin));
    context.fillRect(left, bar.row * tall, Math.max(.6, Math.min(width, x(bar.end)) - left - (gap ? .7 : 0)),
      Math.max(.5, part - gap));
  }
  context.globalAlpha = 1;
  context.fillStyle = context.strokeStyle = colour('--muted');
  context.font = '11.5px system-ui, sans-serif';
  const ticks = Math.max(2, Math.min(TICKS, Math.floor(width / 110)));
  for (let i = 0; i <= ticks; i++) {
    context.textAlign = i === 0 ? 'left' : i === ticks ? 'right' : 'center';
    context.fillText(timeText(from + (to - from) * i / ticks, 4), width * i / ticks, height - 6);
    context.fillRect(Math.min(width - 1, width * i / ticks), height - AXIS + 1, 1, 5);
  }
  if (drag) {
    context.globalAlpha = .2;
    context.fillStyle = colour('--accent');
    context.fillRect(Math.min(drag.x, drag.now) * width, 0, Math.abs(drag.x - drag.now) * width, height - AXIS);
    context.globalAlpha = 1;
  }
}

/** @param {PointerEvent} event */
function place(event) {
  const box = byId('timeline').getBoundingClientRect();
  return { x: Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)),
    y: (event.clientY - box.top) / (box.height - AXIS) };
}

/** @param {PointerEvent} event */
function hover(event) {
  if (!data) return;
  const { x, y } = place(event), ns = from + x * (to - from), row = y * rows,
    part = what === 'ranks' ? 1 / data.streams : 1;
  const bar = bars.find(one => row >= one.row && row < one.row + part && ns >= one.begin && ns <= one.end);
  tip(bar ? { x: event.clientX, y: event.clientY } : null, !bar ? '' : what === 'ranks'
    ? `Rank ${bar.rank}, stream ${bar.stream}, step ${bar.step}\n${timeText(bar.begin)} to ${timeText(bar.end)}`
    : `Link ${bar.rank}:${portText(bar.port)} carries packets\n${timeText(bar.begin)} to ${timeText(bar.end)}`);
}
