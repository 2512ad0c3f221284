/*
 * The positions of ranks, links and messages. A ring is a circle, and a line is a circle that is open at the bottom. All
 * other networks are lattices with a vector for every dimension: a row, a grid, or an oblique view in which the layers of
 * the outermost dimension are above each other. Links that wrap around are drawn as stubs at both ends.
 */

/** @typedef {{x: number, y: number}} Point */
/**
 * @typedef {object} Torus
 * @property {number[]} size
 * @property {number} lines bit d: dimension d is a line
 * @property {number} ranks
 */

/** @param {Torus} torus @param {number} rank */
export function coordinates(torus, rank) {
  const at = new Array(torus.size.length);
  for (let d = torus.size.length - 1; d >= 0; d--) {
    at[d] = rank % torus.size[d];
    rank = Math.floor(rank / torus.size[d]);
  }
  return at;
}

/** @param {Torus} torus @param {number[]} at */
export const rankAt = (torus, at) => at.reduce((rank, c, d) => rank * torus.size[d] + c, 0);

/** @type {{key: string, next: Int32Array, round: Uint8Array}} */ let links = { key: '', next: new Int32Array(), round: new Uint8Array() };

/**
 * Returns the links of a torus, indexed by rank * ports + port: the neighbour (-1: none), and whether the link wraps around.
 * @param {Torus} torus
 */
function linksOf(torus) {
  const key = `${torus.size} ${torus.lines}`, dims = torus.size.length;
  if (links.key === key) return links;
  const next = new Int32Array(torus.ranks * 2 * dims).fill(-1), round = new Uint8Array(next.length);
  for (let d = 0, stride = torus.ranks; d < dims; d++) {
    const size = torus.size[d], line = (torus.lines >> d) & 1;
    stride /= size;
    for (let rank = 0; rank < torus.ranks && size > 1; rank++) {
      const c = Math.floor(rank / stride) % size, at = 2 * (rank * dims + d);
      if (c < size - 1 || !line) next[at] = rank + (c < size - 1 ? stride : -c * stride);
      if (c > 0 || !line) next[at + 1] = rank + (c > 0 ? -stride : (size - 1) * stride);
      round[at] = c === size - 1 ? 1 : 0;
      round[at + 1] = c === 0 ? 1 : 0;
    }
  }
  return (links = { key, next, round });
}

/**
 * Returns the neighbour at a port, or -1, and whether the link to it wraps around.
 * @param {Torus} torus
 * @param {number} rank
 * @param {number} port
 */
export function neighbour(torus, rank, port) {
  const { next, round } = linksOf(torus), at = rank * 2 * torus.size.length + port;
  return port < 2 * torus.size.length ? { rank: next[at] ?? -1, round: Boolean(round[at]) } : { rank: -1, round: false };
}

/**
 * Returns the dimensions that are larger than 1.
 * @param {Torus} torus
 */
export const active = torus => torus.size.map((_, d) => d).filter(d => torus.size[d] > 1);

/**
 * Parses a torus; null if the text is invalid.
 * @param {string} text
 * @returns {Torus | null}
 */
export function readTorus(text) {
  if (!/^\d+m?(x\d+m?){0,7}$/i.test(text)) return null;
  const parts = text.toLowerCase().split('x'), size = parts.map(part => parseInt(part, 10));
  if (size.some(n => n < 1)) return null;
  return { size, lines: parts.reduce((bits, part, d) => bits | (part.endsWith('m') ? 1 << d : 0), 0), ranks: size.reduce((a, b) => a * b, 1) };
}

/** @param {{size: number[], lines: number}} torus */
export const torusText = torus => torus.size.map((n, d) => `${n}${(torus.lines >> d) & 1 ? 'm' : ''}`).join('x');

/**
 * Returns the layouts that are possible for a torus, the default first.
 * @param {Torus} torus
 */
export function layoutsOf(torus) {
  const dims = active(torus).length;
  if (dims <= 1) return torus.ranks <= 128 ? ['ring', 'row'] : ['ring'];
  return dims === 2 ? ['grid', 'iso'] : dims === 3 ? ['iso', 'grid'] : [];
}

const RADIUS = 300;

export class Layout {
  /** @param {Torus} torus @param {string} kind */
  constructor(torus, kind) {
    this.torus = torus;
    this.kind = kind;
    this.ports = 2 * torus.size.length;
    const dims = active(torus);
    /** @type {Point[]} */ this.e = torus.size.map(() => ({ x: 0, y: 0 }));
    if (kind === 'ring') {
      this.dimension = dims[0] ?? 0;
      this.open = Boolean((torus.lines >> this.dimension) & 1);
      const turn = this.open ? 1.7 * Math.PI : 2 * Math.PI;
      this.angle = turn / Math.max(1, this.open ? torus.ranks - 1 : torus.ranks);
      this.start = this.open ? -Math.PI / 2 - turn / 2 : -Math.PI / 2;
      this.gap = 2 * RADIUS * Math.sin(Math.min(this.angle, Math.PI / 2) / 2);
    } else {
      const [a, b, c] = dims.slice(-3).reverse(); // a: the innermost
      const largest = Math.max(...torus.size);
      const s = kind === 'row' ? Math.max(26, 900 / torus.ranks) : Math.max(22, 640 / Math.max(6, largest));
      this.gap = s;
      if (kind === 'iso') {
        this.e[a] = { x: s, y: .15 * s };
        if (b !== undefined) this.e[b] = { x: -.46 * s, y: .4 * s };
        if (c !== undefined) this.e[c] = { x: .2 * s, y: 1.8 * s };
        this.outermost = c; // the middles of its links coincide with other ranks
      } else {
        this.e[a] = { x: s, y: 0 };
        if (b !== undefined) this.e[b] = { x: 0, y: s };
        if (c !== undefined) this.e[c] = { x: (torus.size[a] + 1) * s, y: 0 };
      }
    }
    this.radius = Math.max(1.5, Math.min(kind === 'ring' ? 19 : 15, .24 * this.gap));
    this.at = Array.from({ length: torus.ranks }, (_, rank) => this.#place(rank));
    const xs = this.at.map(p => p.x), ys = this.at.map(p => p.y);
    const margin = kind === 'ring' ? 100 : Math.max(34, .62 * this.gap);
    const bounds = kind === 'ring' ? [-RADIUS, RADIUS, -RADIUS, RADIUS]
      : [min(xs), max(xs), min(ys), max(ys)];
    this.box = { x: bounds[0] - margin, y: bounds[2] - margin, width: bounds[1] - bounds[0] + 2 * margin,
      height: bounds[3] - bounds[2] + 2 * margin };
  }

  /** @param {number} rank @returns {Point} */
  #place(rank) {
    if (this.kind === 'ring') return this.polar(rank, RADIUS);
    const at = coordinates(this.torus, rank);
    return at.reduce((p, c, d) => ({ x: p.x + c * this.e[d].x, y: p.y + c * this.e[d].y }), { x: 0, y: 0 });
  }

  /**
   * Returns a point of the circle; `rank` may be a fraction.
   * @param {number} rank
   * @param {number} radius
   * @returns {Point}
   */
  polar(rank, radius) {
    const angle = (this.start ?? 0) + rank * (this.angle ?? 0);
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  }

  /**
   * Returns the offset, in pixels, of track `side` from the line of a direction.
   * @param {number} port
   * @param {number} side
   * @returns {Point}
   */
  offset(port, side) {
    const e = this.e[port >> 1], sign = port % 2 ? -1 : 1, length = Math.hypot(e.x, e.y) || 1;
    return { x: -e.y / length * sign * side, y: e.x / length * sign * side };
  }

  /**
   * Returns the path of a number of hops through one port of a rank, on track `side` beside the links, as SVG path data.
   * @param {number} rank @param {number} port @param {number} hops @param {number} side
   * @param {number} [first] shortens the beginning @param {number} [last] shortens the end
   */
  path(rank, port, hops, side, first = 0, last = 0) {
    const sign = port % 2 ? -1 : 1;
    if (this.kind === 'ring') {
      const radius = RADIUS + sign * side, slack = 1 / (radius * (this.angle || 1));
      const from = rank + sign * first * slack, to = rank + sign * (hops - last * slack);
      const pieces = Math.max(1, Math.ceil(Math.abs(to - from) * (this.angle ?? 0) / 2));
      let path = '';
      for (let i = 0; i <= pieces; i++) {
        const p = this.polar(from + (to - from) * i / pieces, radius);
        path += i ? `A${f(radius)} ${f(radius)} 0 0 ${sign > 0 ? 1 : 0} ${f(p.x)} ${f(p.y)}` : `M${f(p.x)} ${f(p.y)}`;
      }
      return path;
    }
    const d = port >> 1, e = this.e[d], size = this.torus.size[d], length = Math.hypot(e.x, e.y) || 1;
    const by = this.offset(port, side), u = { x: sign * e.x / length, y: sign * e.y / length };
    let c = coordinates(this.torus, rank)[d], left = hops, p = this.at[rank], path = '';
    const base = { x: p.x - c * e.x, y: p.y - c * e.y };
    const put = (/** @type {string} */ command, /** @type {number} */ place, /** @type {number} */ along) => {
      path += `${command}${f(base.x + place * e.x + by.x + along * u.x)} ${f(base.y + place * e.y + by.y + along * u.y)}`;
    };
    put('M', c, first);
    while (left > 0) {
      const edge = sign > 0 ? size - 1 : 0, steps = Math.min(left, Math.abs(edge - c));
      if (steps === left) {
        put('L', c + sign * left, -last);
        return path;
      }
      put('L', edge, STUB * length);
      c = sign > 0 ? 0 : size - 1;
      left -= steps + 1;
      put('M', c, -STUB * length);
      if (left === 0) put('L', c, -last);
    }
    return path;
  }

  /**
   * Returns the middle of a link, for its marks and for the pointer.
   * @param {number} rank
   * @param {number} port
   * @param {number} side
   */
  middle(rank, port, side = 0) {
    const sign = port % 2 ? -1 : 1, p = this.at[rank];
    if (this.kind === 'ring') return this.polar(rank + sign / 2, RADIUS + sign * side);
    const e = this.e[port >> 1], by = this.offset(port, side);
    const share = neighbour(this.torus, rank, port).round ? STUB * .8 : this.outermost === port >> 1 ? .3 : .5;
    return { x: p.x + sign * share * e.x + by.x, y: p.y + sign * share * e.y + by.y };
  }

  /**
   * Returns the direction in which a link leaves.
   * @param {number} rank
   * @param {number} port
   * @returns {Point}
   */
  direction(rank, port) {
    const sign = port % 2 ? -1 : 1;
    if (this.kind === 'ring') {
      const a = this.polar(rank, 1), b = this.polar(rank + sign * .5, 1);
      return { x: b.x - a.x, y: b.y - a.y };
    }
    const e = this.e[port >> 1];
    return { x: sign * e.x, y: sign * e.y };
  }
}

const STUB = .4;
const f = (/** @type {number} */ value) => Math.round(10 * value) / 10;
const min = (/** @type {number[]} */ list) => list.reduce((a, b) => Math.min(a, b), Infinity);
const max = (/** @type {number[]} */ list) => list.reduce((a, b) => Math.max(a, b), -Infinity);

/* ---- Messages ----------------------------------------------------------------------------------------------------- */

/**
 * @typedef {object} Message
 * @property {number} stream
 * @property {number} from
 * @property {number} to
 * @property {number} bytes
 * @property {{rank: number, port: number, hops: number}[]} legs
 */

/**
 * Converts a message of the core's picture.
 * @param {Torus} torus
 * @param {[number, number, number, number, string]} entry
 * @returns {Message}
 */
export function readMessage(torus, [stream, from, to, bytes, portDigits]) {
  /** @type {{rank: number, port: number, hops: number}[]} */ const legs = [];
  const { next } = linksOf(torus), ports = 2 * torus.size.length;
  let rank = from;
  for (const digit of portDigits) {
    const port = parseInt(digit, 36), last = legs[legs.length - 1];
    if (last && last.port === port) last.hops++;
    else legs.push({ rank, port, hops: 1 });
    rank = next[rank * ports + port];
  }
  return { stream, from, to, bytes, legs };
}

/**
 * Counts bytes and messages on every directed link, indexed by rank * ports + port.
 * @param {Torus} torus
 * @param {Message[]} messages
 */
export function loadsOf(torus, messages) {
  const ports = 2 * torus.size.length, { next } = linksOf(torus);
  const bytes = new Float64Array(torus.ranks * ports), count = new Uint32Array(torus.ranks * ports);
  for (const message of messages)
    for (const leg of message.legs) {
      let { rank } = leg;
      for (let i = 0; i < leg.hops; i++) {
        bytes[rank * ports + leg.port] += message.bytes;
        count[rank * ports + leg.port]++;
        rank = next[rank * ports + leg.port];
      }
    }
  return { bytes, count };
}

/**
 * Assigns a track to every leg of every message, so that legs that share a link are side by side.
 * @param {Torus} torus
 * @param {Message[]} messages
 */
export function tracksOf(torus, messages) {
  const ports = 2 * torus.size.length, { next } = linksOf(torus);
  /** @type {Map<number, number>} the tracks of a link that are taken, as bits */ const taken = new Map();
  let most = 1;
  const tracks = messages.map(message => message.legs.map(leg => {
    const used = [];
    for (let i = 0, { rank } = leg; i < leg.hops; i++, rank = next[rank * ports + leg.port])
      used.push(rank * ports + leg.port);
    const bits = used.reduce((all, link) => all | (taken.get(link) ?? 0), 0);
    let track = 0;
    while (track < 30 && (bits >> track) & 1) track++;
    for (const link of used) taken.set(link, (taken.get(link) ?? 0) | (1 << track));
    most = Math.max(most, track + 1);
    return track;
  }));
  return { tracks, most };
}
