/*
 * Sizes, times and rates, formatted for display and as arguments of the tool.
 */

const BYTES = ['', 'K', 'M', 'G', 'T'];

/**
 * Formats a size as an argument: "64K", "1000".
 * @param {number} bytes
 */
export function bytesArgument(bytes) {
  let unit = 0;
  while (unit < 4 && bytes >= 1024 && bytes % 1024 === 0) {
    bytes /= 1024;
    unit++;
  }
  return bytes + BYTES[unit];
}

/**
 * Formats a size for display: "64 KiB", "170.7 KiB".
 * @param {number} bytes
 */
export function bytesText(bytes) {
  let unit = 0;
  while (unit < 4 && bytes >= 1024) {
    bytes /= 1024;
    unit++;
  }
  const digits = Number.isInteger(bytes) || unit === 0 ? 0 : bytes < 10 ? 2 : 1;
  return `${bytes.toFixed(digits)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}`;
}

/**
 * Parses a size; null if the text is invalid.
 * @param {string} text
 */
export function parseBytes(text) {
  const match = /^\s*(\d+)\s*([kmgt]?)(i?b)?\s*$/i.exec(text);
  if (!match) return null;
  const value = Number(match[1]) * 1024 ** ['', 'k', 'm', 'g', 't'].indexOf(match[2].toLowerCase());
  return value >= 1 && value <= 2 ** 50 ? value : null;
}

/** @param {number} ns @param {number} [digits] */
export function timeText(ns, digits = 4) {
  const [scale, unit] = ns < 1e3 ? [1, 'ns'] : ns < 1e6 ? [1e3, 'µs'] : ns < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  const value = Number((ns / scale).toPrecision(digits));
  return `${value.toLocaleString('en', { maximumFractionDigits: 6 })} ${unit}`;
}

/** @param {number} ns */
export function timeArgument(ns) {
  const [scale, unit] = ns < 1e3 ? [1, 'ns'] : ns < 1e6 ? [1e3, 'us'] : [1e6, 'ms'];
  return `${exactly(ns / scale)}${unit}`;
}

/** @param {number} bps */
export function rateText(bps) {
  return bps >= 1e12 ? `${Number((bps / 1e12).toPrecision(3))} Tb/s` : bps >= 1e9
    ? `${Number((bps / 1e9).toPrecision(3))} Gb/s`
    : `${Number((bps / 1e6).toPrecision(3))} Mb/s`;
}

/** @param {number} bps */
export function rateArgument(bps) {
  const [scale, unit] = bps >= 1e12 ? [1e12, 'Tb/s'] : bps >= 1e9 ? [1e9, 'Gb/s'] : bps >= 1e6 ? [1e6, 'Mb/s']
    : [1e3, 'Kb/s'];
  return `${exactly(bps / scale)}${unit}`;
}

/**
 * Formats all digits of a number, without an exponent.
 * @param {number} value
 */
const exactly = value => Number(value.toPrecision(15))
  .toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 15 });

/** @param {number} count @param {string} one @param {string} [many] */
export const countText = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
