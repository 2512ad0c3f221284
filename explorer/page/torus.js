/*
 * Tori as text, and the coordinates of ranks.
 */

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
