/*
 * The data that each rank holds after a step: a row per rank, a column per contribution or block.
 */
import { byId, colour, legendEntry } from './dom.js';
import { countText } from './format.js';

/**
 * @param {any} picture the core's picture; null: none
 * @param {number} step
 * @param {number} selected a rank, or -1
 */
export function drawMatrix(picture, step, selected) {
  const card = byId('matrix-card'), canvas = byId('matrix');
  card.hidden = !picture || (!picture.held && !picture.held_reason);
  if (card.hidden) return;
  if (!picture.held) {
    canvas.hidden = true;
    byId('matrix-legend').replaceChildren();
    byId('matrix-text').textContent = picture.held_reason;
    return;
  }
  canvas.hidden = false;
  byId('matrix-legend').replaceChildren(legendEntry(['--grid'], 'none'), legendEntry(['--c2'], 'held before the step'),
    legendEntry(['--accent'], 'new in this step'));
  const { columns, state } = picture.held, ranks = picture.nodes?.length ?? picture.ranks,
    row = picture.nodes?.indexOf(selected) ?? selected, now = state[Math.min(step + 1, state.length - 1)],
    before = state[Math.min(step, state.length - 1)];
  // in pixels; cells have whole pixels
  const ratio = Math.max(1, devicePixelRatio), space = (card.clientWidth - 36 || 280) * ratio;
  const tall = Math.max(1, Math.min(40 * ratio, Math.floor(Math.min(space / columns, 416 * ratio / ranks))));
  const wide = Math.max(tall, Math.floor(Math.min(space, 120 * ratio) / columns)), gap = tall > 3 ? 1 : 0;
  const width = columns * wide;
  canvas.width = width;
  canvas.height = ranks * tall;
  canvas.style.width = `${width / ratio}px`;
  const context = canvas.getContext('2d'), image = context.createImageData(width, ranks * tall),
    pixels = new Uint32Array(image.data.buffer);
  const empty = rgb('--grid');
  const [old, fresh] = ['--c2', '--accent'].map(name => shadesOf(empty, rgb(name)));
  const last = state[state.length - 1], everywhere = ['allreduce', 'allgather'].includes(picture.collective);
  let held = 0, complete = 0, wanted = 0, results = 0; // of what is part of the ranks' results
  for (let rank = 0; rank < ranks; rank++) {
    let mine = 0, own = 0;
    for (let c = 0; c < columns; c++) {
      const value = digitAt(now, rank * columns + c), result = everywhere || digitAt(last, rank * columns + c) ? 35 : 0,
        shade = (value > digitAt(before, rank * columns + c) ? fresh : old)[value];
      mine += Math.min(value, result);
      own += result;
      for (let y = rank * tall; y < (rank + 1) * tall - gap; y++)
        pixels.fill(shade, y * width + c * wide, y * width + (c + 1) * wide - gap);
    }
    held += mine;
    wanted += own;
    results += own > 0 ? 1 : 0;
    complete += own > 0 && mine === own ? 1 : 0;
  }
  context.putImageData(image, 0, 0);
  if (row >= 0 && row < ranks) {
    context.strokeStyle = colour('--ink');
    context.lineWidth = Math.max(1, tall / 5);
    context.strokeRect(.5, row * tall - .5, width - 1, tall);
  }
  const what = picture.held.by_block ? 'blocks, shaded by the number of contributions' : 'contributions';
  const text = `A row per ${picture.nodes ? 'rank of the job' : 'rank'}, its ${what}. `
    + `${Math.round(100 * held / Math.max(1, wanted))} % after this step, ${countText(complete, 'rank')} of ${results} `
    + 'complete.';
  byId('matrix-text').textContent = text
    + (picture.streams > 1 ? ' Shown: stream 0; the other streams are its images.' : '');
  canvas.setAttribute('aria-label', text);
}

/**
 * Returns the value of a character of a state, 0 to 35.
 * @param {string} text
 * @param {number} i
 */
function digitAt(text, i) {
  const code = text.charCodeAt(i);
  return code < 58 ? code - 48 : code - 87;
}

/**
 * Returns the sum of the values of a row of a state.
 * @param {string} text
 * @param {number} row
 * @param {number} columns
 */
export function sumOf(text, row, columns) {
  let sum = 0;
  for (let c = 0; c < columns; c++) sum += digitAt(text, row * columns + c);
  return sum;
}

/**
 * Returns the colours of the values 0 to 35, from empty to full.
 * @param {number[]} empty
 * @param {number[]} full
 */
const shadesOf = (empty, full) => Uint32Array.from({ length: 36 }, (_, value) => {
  const [r, g, b] = full.map((v, i) => Math.round(empty[i] + (value ? (v - empty[i]) * (.3 + .7 * value / 35) : 0)));
  return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
});

/** @param {string} name */
function rgb(name) {
  const context = byId('matrix').getContext('2d');
  context.fillStyle = colour(name);
  const hex = parseInt(String(context.fillStyle).slice(1), 16);
  return [hex >> 16, (hex >> 8) & 255, hex & 255];
}
