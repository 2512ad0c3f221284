/*
 * Tori as text, the coordinates of ranks, and the ports of a rank, as trivance/torus.h numbers them.
 */

/**
 * @typedef {object} Torus
 * @property {number[]} size
 * @property {number} lines bit d: dimension d is a line
 * @property {number} ranks
 */

/** @param {number} dimension @param {number} sign */
export const portOf = (dimension, sign) => 2 * dimension + (sign < 0 ? 1 : 0);

/**
 * Returns the port by which a message over the link of `port` arrives.
 * @param {number} port
 */
export const opposite = port => port ^ 1;

/** @param {number} port */
export const portText = port => `${port % 2 ? '-' : '+'}${port >> 1}`;

/** @param {Torus} torus @param {number} rank */
export function coordinates(torus, rank) {
  const at = new Array(torus.size.length);
  for (let d = torus.size.length - 1; d >= 0; d--) {
    at[d] = rank % torus.size[d];
    rank = Math.floor(rank / torus.size[d]);
  }
  return at;
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
  return { size, lines: parts.reduce((bits, part, d) => bits | (part.endsWith('m') ? 1 << d : 0), 0),
    ranks: size.reduce((a, b) => a * b, 1) };
}

/** @param {{size: number[], lines: number}} torus */
export const torusText = torus => torus.size.map((n, d) => `${n}${(torus.lines >> d) & 1 ? 'm' : ''}`).join('x');
