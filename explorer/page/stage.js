/*
 * The picture of the network: ranks, links whose width and colour show their load, the messages of a step as arrows along
 * the links, and links that are cut or slow. It is one SVG; ranks and links under the pointer are found by position.
 */
import { legendEntry, shape } from './dom.js';
import { Layout, loadsOf, neighbour, tracksOf } from './geometry.js';

/** @typedef {import('./geometry.js').Torus} Torus */
/** @typedef {import('./geometry.js').Message} Message */
/** @typedef {import('./state.js').Slow} Slow */
/**
 * @typedef {object} Scene
 * @property {Torus} torus
 * @property {string} kind of layout
 * @property {Message[]} messages of the step, [] for none
 * @property {{rank: number, port: number, factor: number}[]} marks directed links that are cut or slow
 * @property {number} rank the selected rank, or -1
 * @property {number} scale the load of the busiest link in any step
 * @property {number} fault the rank with the fault, or -1
 * @property {Set<number> | null} nodes those of a job; null: all
 * @property {((rank: number) => number) | null} fill the filled share of a rank's disc, 0 to 1
 * @property {boolean} play whether arrows move
 */

export const ARROWS_MAX = 300;
const RANKS_WITH_DISCS = 1100, SHADES = 7;
/** The colours of loads, from little to most; page.css has the same. */
const LOADS = ['--v2', '--v3', '--v4', '--v5', '--v6'];
const STREAMS = ['--c5', '--c1', '--c2', '--c3', '--c4', '--c6', '--c7', '--c8'];

/**
 * Returns the colour of a stream's messages.
 * @param {number} stream
 */
export const streamColour = stream => `var(${STREAMS[stream % STREAMS.length]})`;

/**
 * Returns the legend of a scene: entries for the colours that it has.
 * @param {Scene} scene
 * @param {number} streams
 */
export function legendOf(scene, streams) {
  const isStep = scene.messages.length > 0, marked = (/** @type {boolean} */ cut) => scene.marks.some(mark => (mark.factor === Infinity) === cut);
  const repeated = streams > STREAMS.length ? ', …' : '';
  return [
    ...(isStep ? STREAMS.slice(0, streams).map((name, i) => legendEntry([name], streams > 1 ? `messages of stream ${i}${repeated && `, ${i + STREAMS.length}`}${repeated}` : 'messages')) : []),
    ...(isStep ? [legendEntry(LOADS, 'load of a link, up to the busiest of all steps')] : []),
    ...(scene.fill ? [legendEntry(['--accent'], 'share of the data that a rank holds', 'round')] : []),
    ...(isStep && scene.rank >= 0 ? [legendEntry(['--accent'], `receives from rank ${scene.rank}`, 'ring')] : []),
    ...(scene.rank >= 0 ? [legendEntry(['--ink'], `rank ${scene.rank}`, 'ring')] : []),
    ...(scene.fault >= 0 ? [legendEntry(['--bad'], 'rank with the first fault', 'ring')] : []),
    ...(marked(true) ? [legendEntry(['--bad'], '× cut link')] : []),
    ...(marked(false) ? [legendEntry(['--v6'], 'slow link, and by what factor', 'ring')] : []),
    ...(scene.nodes ? [legendEntry(['--muted'], 'node that the job does not use', 'dashed')] : []),
  ];
}

/** @type {Layout | null} */ let kept = null;

/** @param {Torus} torus @param {string} kind */
export function layoutFor(torus, kind) {
  if (!kept || kept.kind !== kind || kept.torus.size.join() !== torus.size.join() || kept.torus.lines !== torus.lines)
    kept = new Layout(torus, kind);
  return kept;
}

/**
 * Draws the scene. Returns the messages that have arrows and the largest load.
 * @param {SVGSVGElement} svg @param {Scene} scene
 */
export function drawStage(svg, scene) {
  const { torus, messages } = scene;
  const layout = layoutFor(torus, scene.kind), { box } = layout;
  const loads = loadsOf(torus, messages), largest = loads.bytes.reduce((a, b) => Math.max(a, b), 0);
  svg.setAttribute('viewBox', `${box.x} ${box.y} ${box.width} ${box.height}`);
  const all = messages.length <= ARROWS_MAX && scene.rank < 0;
  const shown = all ? messages : messages.filter(message => message.from === scene.rank);
  const dim = shown.length > 0;
  const arrows = drawArrows(layout, shown, scene.play), ranks = drawRanks(layout, scene, shown);
  svg.replaceChildren(drawLinks(layout, scene, loads.bytes, Math.max(largest, scene.scale), dim),
    ...(torus.ranks > RANKS_WITH_DISCS ? [ranks, arrows] : [arrows, ranks]), drawMarks(layout, scene));
  return { layout, loads, largest, shown };
}

/** @param {Layout} layout @param {Scene} scene @param {Float64Array} bytes @param {number} largest @param {boolean} dim */
function drawLinks(layout, scene, bytes, largest, dim) {
  const { torus } = scene, ports = layout.ports, side = Math.min(3.2, .16 * layout.gap);
  const cut = new Set(scene.marks.filter(mark => mark.factor === Infinity).map(mark => mark.rank * ports + mark.port));
  const paths = Array.from({ length: SHADES + 1 }, () => '');
  for (let rank = 0; rank < torus.ranks; rank++)
    for (let port = 0; port < ports; port++) {
      if (neighbour(torus, rank, port).rank < 0 || cut.has(rank * ports + port)) continue;
      const load = bytes[rank * ports + port];
      const level = largest > 0 && load > 0 ? Math.max(1, Math.ceil(SHADES * load / largest)) : 0;
      paths[level] += layout.path(rank, port, 1, side);
    }
  const width = Math.min(1, layout.gap / 46);
  return shape('g', { class: !dim ? 'links' : torus.ranks > 400 ? 'links behind far' : 'links behind' }, ...paths.map((path, level) => shape('path', {
    d: path, class: `load-${level}`, 'stroke-width': level ? (1 + 3.6 * level / SHADES) * Math.max(.35, width) : Math.max(.5, width),
  })));
}

/** @param {Layout} layout @param {Message[]} messages @param {boolean} play */
function drawArrows(layout, messages, play) {
  const group = shape('g', { class: play ? 'arrows playing' : 'arrows' });
  if (!messages.length) return group;
  const { tracks, most } = tracksOf(layout.torus, messages);
  const ring = layout.kind === 'ring';
  const base = ring ? layout.radius + 7 : Math.min(8, .2 * layout.gap);
  const step = Math.min(ring ? 9 : .1 * layout.gap, (ring ? 66 : .26 * layout.gap) / most);
  const few = messages.length <= 40 ? 1.6 : 0;
  const head = Math.max(few ? 5 : 2.4, Math.min(7, ring ? 7 : .16 * layout.gap));
  messages.forEach((message, m) => {
    let path = '';
    message.legs.forEach((leg, l) => {
      const side = base + tracks[m][l] * step, end = l === message.legs.length - 1, clear = clearance(layout, side);
      path += layout.path(leg.rank, leg.port, leg.hops, side, l ? 0 : clear, end ? clear + head : 0);
    });
    const last = message.legs[message.legs.length - 1];
    if (!last) return;
    const side = base + tracks[m][message.legs.length - 1] * step;
    group.append(shape('path', { d: path, class: 'path', pathLength: 100, 'data-message': m, style: `stroke:${streamColour(message.stream)}` }),
      shape('path', { d: headPath(layout, message, last, side, head), class: 'head', style: `fill:${streamColour(message.stream)}` }));
  });
  group.setAttribute('stroke-width', String(Math.max(.9, few, Math.min(2.4, step * .55))));
  return group;
}

/**
 * Returns the distance from a rank's middle at which a path beside the links meets the rank's disc.
 * @param {Layout} layout
 * @param {number} side
 */
const clearance = (layout, side) => Math.sqrt(Math.max(0, (layout.radius + 1) ** 2 - side ** 2));

/** @param {Layout} layout @param {Message} message @param {{rank: number, port: number, hops: number}} leg @param {number} side @param {number} size */
function headPath(layout, message, leg, side, size) {
  const sign = leg.port % 2 ? -1 : 1;
  /** @type {import('./geometry.js').Point} */ let tip, /** @type {import('./geometry.js').Point} */ u;
  if (layout.kind === 'ring') {
    const radius = 300 + sign * side;
    tip = layout.polar(message.to, radius);
    const before = layout.polar(message.to - sign * .01, radius);
    u = { x: tip.x - before.x, y: tip.y - before.y };
  } else {
    const p = layout.at[message.to], by = layout.offset(leg.port, side);
    tip = { x: p.x + by.x, y: p.y + by.y };
    u = layout.direction(message.to, leg.port);
  }
  const length = Math.hypot(u.x, u.y) || 1, x = u.x / length * size, y = u.y / length * size, clear = clearance(layout, side) / size;
  tip = { x: tip.x - clear * x, y: tip.y - clear * y };
  const r = (/** @type {number} */ v) => Math.round(10 * v) / 10;
  return `M${r(tip.x)} ${r(tip.y)}L${r(tip.x - 1.5 * x - .75 * y)} ${r(tip.y - 1.5 * y + .75 * x)}L${r(tip.x - 1.5 * x + .75 * y)} ${r(tip.y - 1.5 * y - .75 * x)}Z`;
}

/** @param {Layout} layout @param {Scene} scene @param {Message[]} shown */
function drawRanks(layout, scene, shown) {
  const { torus } = scene, group = shape('g', { class: 'ranks' }), r = layout.radius;
  const targets = scene.rank >= 0 ? new Set(shown.map(message => message.to)) : new Set();
  const numbers = r >= 9;
  const size = Math.min(14, r * (torus.ranks > 100 ? .78 : .95));
  if (torus.ranks > RANKS_WITH_DISCS) {
    const paths = ['', '', '', ''];
    layout.at.forEach((p, rank) => {
      paths[Math.round(3 * (scene.fill?.(rank) ?? 0))] += `M${p.x - r} ${p.y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    });
    paths.forEach((d, level) => group.append(shape('path', { d, class: `disc fill-${level}` })));
    if (scene.rank >= 0) group.append(shape('circle', { cx: layout.at[scene.rank].x, cy: layout.at[scene.rank].y, r: 1.8 * r, class: 'disc selected' }));
    return group;
  }
  layout.at.forEach((p, rank) => {
    const share = scene.fill?.(rank) ?? 0;
    const classes = ['disc', rank === scene.rank && 'selected', rank === scene.fault && 'fault', targets.has(rank) && 'target', scene.nodes && !scene.nodes.has(rank) && 'idle'];
    group.append(shape('circle', { cx: p.x, cy: p.y, r, class: classes.filter(Boolean).join(' '), style: `--share:${Math.round(100 * share)}%` }));
    if (numbers) group.append(shape('text', { x: p.x, y: p.y, 'font-size': size, class: share > .55 ? 'number full' : 'number' }, String(rank)));
  });
  return group;
}

/** @param {Layout} layout @param {Scene} scene */
function drawMarks(layout, scene) {
  const group = shape('g', { class: 'marks' });
  for (const mark of scene.marks) {
    if (mark.rank >= scene.torus.ranks || neighbour(scene.torus, mark.rank, mark.port).rank < 0) continue;
    const p = layout.middle(mark.rank, mark.port), s = Math.max(3.5, Math.min(8, .14 * layout.gap));
    if (mark.factor === Infinity)
      group.append(shape('path', { class: 'cut', d: `M${p.x - s} ${p.y - s}L${p.x + s} ${p.y + s}M${p.x + s} ${p.y - s}L${p.x - s} ${p.y + s}` }));
    else
      group.append(slowMark(p, s, `${Number(mark.factor.toPrecision(3))}×`));
  }
  return group;
}

/** @param {import('./geometry.js').Point} p @param {number} s @param {string} text */
function slowMark(p, s, text) {
  const width = Math.max(2.5, .85 * text.length) * s;
  return shape('g', {}, shape('rect', { x: p.x - width / 2, y: p.y - 1.25 * s, width, height: 2.5 * s, rx: 1.25 * s, class: 'slow' }),
    shape('text', { x: p.x, y: p.y, class: 'slow-text', 'font-size': 1.25 * s }, text));
}

/**
 * Returns the rank or the link under a point of the picture.
 * @param {Layout} layout @param {import('./geometry.js').Point} p
 * @returns {{rank: number, port: number} | null} port -1: the rank itself
 */
export function findAt(layout, p) {
  let best = null, nearest = Math.max(layout.radius + 3, .22 * layout.gap) ** 2;
  const close = layout.radius * 1.15 + 2;
  for (let rank = 0; rank < layout.torus.ranks; rank++) {
    const q = layout.at[rank], d = (q.x - p.x) ** 2 + (q.y - p.y) ** 2;
    if (d < close * close) return { rank, port: -1 };
    if (d > (1.2 * layout.gap) ** 2) continue;
    for (let port = 0; port < layout.ports; port++) {
      if (neighbour(layout.torus, rank, port).rank < 0) continue;
      const m = layout.middle(rank, port, Math.min(3.2, .16 * layout.gap));
      const distance = (m.x - p.x) ** 2 + (m.y - p.y) ** 2;
      if (distance < nearest) {
        nearest = distance;
        best = { rank, port };
      }
    }
  }
  return best;
}
