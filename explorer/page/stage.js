/*
 * The picture of the network: ranks, links whose width and colour show their load, the messages of a step as arrows
 * along the links, and links that are cut or slow. It is one SVG, whose positions and paths are the core's; ranks and
 * links under the pointer are found by position.
 */
import { legendEntry, shape } from './dom.js';

/** @typedef {[number, number, number, number, number, string]} Link rank, port, neighbour, its middle, its path */
/**
 * @typedef {object} Network the core's layout
 * @property {string} key of the question
 * @property {string} noun ring, line, torus, mesh or network
 * @property {string} form
 * @property {string[]} forms
 * @property {number[]} size
 * @property {number} lines
 * @property {number} ranks
 * @property {number} middle the rank in the middle
 * @property {number} width
 * @property {number} height
 * @property {number} node the radius of a rank
 * @property {number} gap between ranks
 * @property {[number, number, number][]} at the positions of ranks, and the sizes of their numbers
 * @property {Link[]} links
 * @property {Map<number, Link>} byPort by linkKey
 * @property {[boolean, string, string, string, number, number, string, string][]} marks is cut; the paths of the link,
 *   the cross and the line to the label; the label's position, anchor and text
 */
/**
 * @typedef {{stream: number, from: number, to: number, bytes: number, hops: number, route: string, path: string,
 *   head: string, width: number}} Message
 * @typedef {Map<number, {count: number, bytes: number}>} Loads by linkKey
 * @typedef {{together: boolean, messages: Message[], loads: Loads}} Step
 */
/**
 * @typedef {object} Scene
 * @property {Network} network
 * @property {Step} step
 * @property {number} rank the rank that is selected or an example, or -1
 * @property {string[]} colours of the streams
 * @property {number} scale the load of the busiest link in any step
 * @property {number} fault the rank with the fault, or -1
 * @property {Set<number> | null} nodes those of a job; null: all
 * @property {((rank: number) => number) | null} fill the filled share of a rank's disc, 0 to 1
 * @property {boolean} play whether arrows move
 */

const RANKS_WITH_DISCS = 1100, PIXELS = 640, NUMBER_PIXELS = 5.5;
/** The colours of loads, from little to most. */
const LOADS = ['--v2', '--v3', '--v4', '--v5', '--v6'], SHADES = LOADS.length;

/** @param {number} rank @param {number} port */
export const linkKey = (rank, port) => 16 * rank + port;
/** The step of a picture without messages. @type {Step} */
export const NO_STEP = { together: true, messages: [], loads: new Map() };

/**
 * Returns the colour of a stream's messages in the theme.
 * @param {{colours: string[]}} picture
 * @param {number} stream
 */
export const streamColour = (picture, stream) => `color-mix(in srgb, ${picture.colours[stream]}, var(--streams))`;

/**
 * Returns the legend of a scene: entries for the colours that it has.
 * @param {Scene} scene
 */
export function legendOf(scene) {
  const isStep = scene.step.messages.length > 0,
    marked = (/** @type {boolean} */ cut) => scene.network.marks.some(mark => mark[0] === cut);
  const { colours } = scene, distinct = [...new Set(colours)], repeated = colours.length > distinct.length;
  return [
    ...(isStep ? distinct.map((_, i) => legendEntry([streamColour(scene, i)], colours.length === 1 ? 'messages'
      : `messages of stream ${i}${repeated ? `, ${i + distinct.length}, …` : ''}`)) : []),
    ...(isStep ? [legendEntry(LOADS, 'load of a link, up to the busiest of all steps')] : []),
    ...(scene.fill ? [legendEntry(['--accent'], 'share of the data that a rank holds', 'round')] : []),
    ...(isStep && scene.rank >= 0 ? [legendEntry(['--accent'], `receives from rank ${scene.rank}`, 'ring')] : []),
    ...(scene.rank >= 0 ? [legendEntry(['--ink'], `rank ${scene.rank}`, 'ring')] : []),
    ...(scene.fault >= 0 ? [legendEntry(['--bad'], 'rank with the first fault', 'ring')] : []),
    ...(marked(true) ? [legendEntry(['--bad'], '× cut link')] : []),
    ...(marked(false) ? [legendEntry(['--v6'], 'slow link, and by what factor')] : []),
    ...(scene.nodes ? [legendEntry(['--muted'], 'node that the job does not use', 'dashed')] : []),
  ];
}

/**
 * Draws the scene. Returns the messages that have arrows.
 * @param {SVGSVGElement} svg @param {Scene} scene
 */
export function drawStage(svg, scene) {
  const { network, step } = scene;
  svg.setAttribute('viewBox', `0 0 ${network.width} ${network.height}`);
  const shown = step.together && scene.rank < 0 ? step.messages
    : step.messages.filter(message => message.from === scene.rank);
  const arrows = drawArrows(scene, shown), ranks = drawRanks(scene, shown);
  svg.replaceChildren(drawLinks(scene, shown.length > 0),
    ...(network.ranks > RANKS_WITH_DISCS ? [ranks, arrows] : [arrows, ranks]), drawMarks(network));
  return shown;
}

/** @param {Scene} scene @param {boolean} behind */
function drawLinks({ network, step, scale }, behind) {
  const paths = Array.from({ length: SHADES + 1 }, () => '');
  for (const [rank, port, , , , path] of network.links) {
    const load = step.loads.get(linkKey(rank, port));
    paths[load && scale > 0 ? Math.max(1, Math.min(SHADES, Math.ceil(SHADES * load.bytes / scale))) : 0] += path;
  }
  const width = Math.min(1, network.gap / 46);
  return shape('g', { class: !behind ? 'links' : network.ranks > 400 ? 'links behind far' : 'links behind' },
    ...paths.map((path, level) => shape('path', {
    d: path, class: `load-${level}`, style: level ? `stroke:var(${LOADS[level - 1]})` : null,
      'stroke-width': level ? (1 + 3 * level / SHADES) * Math.max(.35, width) : Math.max(.5, width),
  })), ...network.marks.filter(([cut]) => !cut).map(mark => shape('path', { class: 'slow', d: mark[1] })));
}

/** @param {Scene} scene @param {Message[]} messages */
function drawArrows(scene, messages) {
  return shape('g', { class: scene.play ? 'arrows playing' : 'arrows' },
    ...messages.flatMap(({ stream, path, head, width }, m) => {
      const colour = streamColour(scene, stream);
      return [shape('path', { d: path, class: 'path', pathLength: 100, 'stroke-width': width, 'data-message': m,
        style: `stroke:${colour}` }), shape('path', { d: head, class: 'head', style: `fill:${colour}` })];
    }));
}

/** @param {Scene} scene @param {Message[]} shown */
function drawRanks(scene, shown) {
  const { network } = scene, group = shape('g', { class: 'ranks' }), r = network.node;
  const targets = scene.rank >= 0 ? new Set(shown.map(message => message.to)) : new Set();
  if (network.ranks > RANKS_WITH_DISCS) {
    const paths = ['', '', '', ''];
    network.at.forEach(([x, y], rank) => {
      const level = Math.round(3 * (scene.fill?.(rank) ?? 0));
      paths[level] += `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    });
    paths.forEach((d, level) => group.append(shape('path', { d, class: 'disc', style: `--share:${33.3 * level}%` })));
    const [cx, cy] = network.at[scene.rank] ?? [];
    if (scene.rank >= 0) group.append(shape('circle', { cx, cy, r: 1.8 * r, class: 'disc selected' }));
    return group;
  }
  const numbers = r * PIXELS / Math.max(network.width, network.height) >= NUMBER_PIXELS;
  network.at.forEach(([x, y, size], rank) => {
    const share = scene.fill?.(rank) ?? 0;
    const classes = ['disc', rank === scene.rank && 'selected', rank === scene.fault && 'fault',
      targets.has(rank) && 'target', scene.nodes && !scene.nodes.has(rank) && 'idle'];
    group.append(shape('circle',
      { cx: x, cy: y, r, class: classes.filter(Boolean).join(' '), style: `--share:${Math.round(100 * share)}%` }));
    if (numbers) group.append(shape('text', { x, y, 'font-size': size, class: share > .55 ? 'number full' : 'number' },
      String(rank)));
  });
  return group;
}

/** @param {Network} network */
function drawMarks(network) {
  return shape('g', { class: 'marks' }, ...network.marks.flatMap(([cut, , cross, leader, x, y, anchor, text]) => [
    ...(cut ? [shape('path', { class: 'cut', d: cross })] : []), shape('path', { class: 'leader', d: leader }),
    shape('text', { x, y, class: 'mark', 'text-anchor': anchor }, text)]));
}

/**
 * Returns the rank or the link under a point of the picture.
 * @param {Network} network @param {{x: number, y: number}} p
 * @returns {{rank: number, port: number} | null} port -1: the rank itself
 */
export function findAt(network, p) {
  const distance = (/** @type {number} */ x, /** @type {number} */ y) => Math.hypot(x - p.x, y - p.y);
  const rank = network.at.findIndex(([x, y]) => distance(x, y) < 1.15 * network.node + 2);
  if (rank >= 0) return { rank, port: -1 };
  let best = null, nearest = Math.max(network.node + 3, .22 * network.gap);
  for (const [from, port, , x, y] of network.links) {
    const d = distance(x, y);
    if (d < nearest) [nearest, best] = [d, { rank: from, port }];
  }
  return best;
}
