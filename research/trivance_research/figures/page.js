'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const sizes = data.sizes;
const byId = id => document.getElementById(id);

/* ---- Small helpers ---------------------------------------------------------------------------------------------- */

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children.filter(child => child !== null));
  return node;
}

function shape(name, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function bytesText(bytes) {
  const unit = ['B', 'KiB', 'MiB', 'GiB'];
  let u = 0;
  for (; bytes >= 1024 && u < 3; u++) bytes /= 1024;
  return (Number.isInteger(bytes) ? bytes : bytes.toPrecision(2)) + '\u00a0' + unit[u];
}

function timeText(ns) {
  const [scale, unit] = ns < 1e6 ? [1e3, 'µs'] : [1e6, 'ms'];
  return (ns / scale).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }) + '\u00a0' + unit;
}

/* Beyond 100 % it is shown as a ratio: of time, or of a disadvantage. */
const percentText = (value, digits = 1) =>
  value > 100 ? (1 + value / 100).toFixed(1) + 'x'
  : value < -100 ? (1 - value / 100).toFixed(1) + 'x as long'
  : (value < 0 ? '−' : '') + Math.abs(value).toFixed(digits) + '\u00a0%';
/* Values along the axis: sizes, of which a figure shows the first ones, or numbers of cut links, at equal distances. */
const axisOf = figure => figure.cuts ? figure.cuts.links : sizes.slice(0, figure.curves[0].other.length);
const placeText = (figure, i) => !figure.cuts ? bytesText(sizes[i])
  : `${figure.cuts.links[i]} link${figure.cuts.links[i] === 1 ? '' : 's'} cut`;
const timesText = value => value.toFixed(2) + '×';
const published = (figure, curve) => figure.published && figure.published.curves.find(one => one.key === curve.key);
const advantage = (curve, i) => (curve.other[i] - curve.own[i]) / curve.other[i] * 100;

/* ---- Plots ------------------------------------------------------------------------------------------------------ */

const frame = matchMedia('(max-width: 640px)').matches   // larger letters, page.css
  ? { width: 640, height: 460, left: 92, right: 16, top: 16, bottom: 70, letter: 19 }
  : { width: 640, height: 380, left: 56, right: 14, top: 14, bottom: 46, letter: 11.5 };
const hidden = new Set();   // hidden curves: algorithms are hidden in all figures, values of a parameter in one
const charts = [];
let mode = 'relative';

const keyOf = (figure, curve) => figure.parameter ? figure.number + ' ' + curve.key : curve.key;
const lookOf = (figure, c) => figure.parameter ? c : figure.curves[c].colour - 1;   // the same colour in all figures
const ownColour = figure => `var(--c${figure.own.colour})`;
const colourOf = (figure, c) => figure.parameter ? `var(--v${c})` : `var(--c${figure.curves[c].colour})`;

const markers = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
  (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x},${y - 1.25 * r}l${1.2 * r},${2.1 * r}h${-2.4 * r}z`,
  (x, y, r) => `M${x},${y - 1.35 * r}l${1.35 * r},${1.35 * r}l${-1.35 * r},${1.35 * r}l${-1.35 * r},${-1.35 * r}z`,
];
const markerOf = (c, x, y, r) => markers[c % markers.length](x, y, r);

function niceSteps(low, high) {
  const step = [5, 10, 20, 50].find(s => (high - low) / s <= 8) || 100, ticks = [];
  for (let t = Math.ceil(low / step) * step; t <= high; t += step) ticks.push(t);
  return ticks;
}

function timesSteps(low, high) {
  const step = [0.1, 0.2, 0.5].find(s => (high - low) / s <= 8) || 1, ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
  return ticks;
}

/* The median of the networks, and dashed, the worst one. */
function linesOfCuts(figure) {
  const value = (curve, ns) => ns.map((one, i) => mode === 'relative' ? one / curve.other[i] : one / 1e3);
  return figure.curves.flatMap((curve, c) => hidden.has(keyOf(figure, curve)) ? []
    : [curve.own, curve.worst].map((ns, i) => ({ colour: colourOf(figure, c), marker: lookOf(figure, c), hollow: -1,
                                                  dashed: i === 1, values: value(curve, ns) })));
}

/* The curves to draw: for a figure over a parameter, the absolute view has both times, with the figure's own
 * algorithm dashed. */
function linesOf(figure) {
  const lines = [];
  if (figure.cuts) return linesOfCuts(figure);
  figure.curves.forEach((curve, c) => {
    if (hidden.has(keyOf(figure, curve))) return;
    const line = { colour: colourOf(figure, c), marker: lookOf(figure, c), hollow: curve.switch };
    if (mode === 'relative') {
      lines.push({ ...line, values: curve.other.map((_, i) => advantage(curve, i)) });
    } else {
      lines.push({ ...line, values: curve.other.map(ns => ns / 1e3) });
      if (figure.parameter)
        lines.push({ ...line, values: curve.own.map(ns => ns / 1e3), hollow: curve.ownSwitch, dashed: true });
    }
  });
  if (mode === 'absolute' && !figure.parameter) {
    const own = figure.curves[0];
    lines.push({ colour: ownColour(figure), marker: 0, hollow: own.ownSwitch, own: true,
                 values: own.own.map(ns => ns / 1e3) });
  }
  return lines;
}

/* The same by the published rules, with hollow markers, at the sizes that are simulated. */
function publishedLinesOf(figure) {
  if (!figure.published) return [];
  const at = figure.published.sizes.map(size => sizes.indexOf(size)).filter(i => i >= 0);
  const line = { dashed: true, published: true, hollow: -1, at };
  const microseconds = values => values.map(ns => ns && ns / 1e3);
  const lines = figure.published.curves.flatMap((curve, c) => hidden.has(keyOf(figure, curve)) ? [] : [{
    ...line, colour: colourOf(figure, c), marker: lookOf(figure, c),
    values: mode === 'relative' ? curve.advantage : microseconds(curve.other) }]);
  if (mode === 'absolute' && !figure.parameter)
    lines.push({ ...line, colour: ownColour(figure), marker: 0, values: microseconds(figure.published.curves[0].own) });
  return lines;
}

function scalesOf(figure) {
  const inner = frame.width - frame.left - frame.right, tall = frame.height - frame.top - frame.bottom;
  const axis = axisOf(figure), first = Math.log2(axis[0]), last = Math.log2(axis[axis.length - 1]);
  const x = figure.cuts ? i => frame.left + (i + 0.2) / (axis.length - 0.6) * inner
    : i => frame.left + (Math.log2(axis[i]) - first) / (last - first) * inner;
  let [low, high] = figure.range, y, ticks, label;
  if (mode === 'relative') {
    y = value => frame.top + (high - value) / (high - low) * tall;
    ticks = figure.cuts ? timesSteps(low, high) : niceSteps(low, high);
    label = value => figure.cuts ? value.toFixed(1) : value < 0 ? '−' + -value : String(value);
  } else {
    const all = [...figure.curves, ...(figure.published ? figure.published.curves : [])]
      .flatMap(curve => [...curve.other, ...curve.own, ...(curve.worst || [])]).filter(ns => ns !== null);
    low = Math.floor(Math.log10(Math.min(...all) / 1e3));
    high = Math.ceil(Math.log10(Math.max(...all) / 1e3));
    y = value => frame.top + (high - Math.log10(value)) / (high - low) * tall;
    ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
    label = value => value.toLocaleString('en');
  }
  return { x, y, ticks, label };
}

function drawAxes(svg, figure, { x, y, ticks, label }) {
  const bottom = frame.height - frame.bottom, right = frame.width - frame.right;
  for (const tick of ticks) {
    svg.append(shape('line', { class: 'grid', x1: frame.left, x2: right, y1: y(tick), y2: y(tick) }),
               shape('text', { x: frame.left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, label(tick)));
  }
  axisOf(figure).forEach((value, i) => {
    if (!figure.cuts && !Number.isInteger(Math.log2(value / sizes[0]) / 4)) return;
    const anchor = x(i) < frame.left + 5 ? 'start' : x(i) > right - 20 ? 'end' : 'middle';
    svg.append(shape('line', { class: 'grid', x1: x(i), x2: x(i), y1: frame.top, y2: bottom }),
               shape('text', { x: x(i), y: bottom + 5.5 + frame.letter, 'text-anchor': anchor },
                     figure.cuts ? String(value) : bytesText(value)));
  });
  const title = mode === 'relative' && figure.cuts ? 'T / T_whole' : mode === 'relative'
    ? `(T_A − T_${figure.own.title}) / T_A  [%]` : 'T  [µs]';
  const middle = (frame.top + bottom) / 2;
  const text = shape('text', { class: 'axis-title', x: 14, y: middle, 'text-anchor': 'middle',
                               transform: `rotate(-90 14 ${middle})` });
  title.split(/(_\w+)/).forEach(part => {   // subscripts
    if (part[0] !== '_') text.append(shape('tspan', {}, part));
    else text.append(shape('tspan', { dy: 3, 'font-size': '.78em' }, part.slice(1)),
      shape('tspan', { dy: -3 }, '\u200b'));
  });
  svg.append(text, shape('text', { class: 'axis-title', x: (frame.left + right) / 2, y: frame.height - 8,
                                   'text-anchor': 'middle' },
                         figure.cuts ? `Cut links, both ways (${figure.cuts.networks} random networks each)`
                           : 'AllReduce size'));
  if (mode === 'relative' && !figure.cuts)
    svg.append(shape('line', { class: 'zero', x1: frame.left, x2: right, y1: y(0), y2: y(0),
                               stroke: ownColour(figure) }),
               shape('text',
               { class: 'zero-text', x: frame.left + 6, y: y(0) + 2.5 + frame.letter, fill: ownColour(figure) },
                     figure.own.title));
}

function drawSwitches(svg, figure, { x }) {
  figure.curves.forEach((curve, c) => {
    if (curve.ownSwitch < 0 || (!figure.parameter && c > 0)) return;
    if (figure.parameter && hidden.has(keyOf(figure, curve))) return;
    const at = x(curve.ownSwitch);
    svg.append(shape('line', { class: 'switch', x1: at, x2: at, y1: frame.top, y2: frame.height - frame.bottom,
                               stroke: figure.parameter ? colourOf(figure, c) : ownColour(figure) }));
  });
}

function drawLine(group, line, { x, y }) {
  const points = line.values.map((value, i) => value === null ? null : [x(line.at ? line.at[i] : i), y(value)])
    .filter(point => point);
  const path = points.map(([px, py], i) => `${i ? 'L' : 'M'}${px.toFixed(1)},${py.toFixed(1)}`).join('');
  group.append(shape('path', { class: 'curve', d: path, stroke: line.colour,
                               ...(line.dashed ? { 'stroke-dasharray': '5 4' } : {}) }));
  points.forEach(([px, py], i) => {
    const edged = i === line.hollow;
    if (line.dashed && !edged && !line.published) return;
    group.append(shape('path', { d: markerOf(line.marker, px, py, edged ? 4.4 : line.published ? 3.4 : 2.6),
                                 stroke: edged ? 'currentColor' : line.colour,
                                 'stroke-width': edged ? 1.6 : line.published ? 1.2 : 0,
                                 fill: line.published ? 'var(--card)' : line.colour }));
  });
}

function draw(chart) {
  const { figure, svg } = chart, scales = scalesOf(figure);
  svg.replaceChildren();
  chart.scales = scales;
  drawAxes(svg, figure, scales);
  drawSwitches(svg, figure, scales);
  const group = shape('g', { 'clip-path': `url(#clip-${figure.number})` });
  svg.append(shape('clipPath', { id: `clip-${figure.number}` },
                   shape('rect', { x: frame.left - 5, y: frame.top - 5,
                                   width: frame.width - frame.left - frame.right + 10,
                                   height: frame.height - frame.top - frame.bottom + 10 })), group);
  for (const line of [...publishedLinesOf(figure), ...linesOf(figure)]) drawLine(group, line, scales);
  chart.cross = shape('line', { class: 'cross', y1: frame.top, y2: frame.height - frame.bottom, visibility: 'hidden' });
  svg.append(chart.cross);
}

/* ---- Values under the pointer, or by arrow keys ------------------------------------------------------------------ */

const tip = byId('tip');

function tipRow(colour, name, value, member) {
  return element('tr', {}, element('td', {}, element('span', { class: 'dot', style: `background:${colour}` })),
                 element('td', {}, name, ' ', element('small', {}, member)), element('td', {}, value));
}

function fillTipOfCuts(figure, i, table) {
  figure.curves.forEach((curve, c) => {
    if (hidden.has(keyOf(figure, curve))) return;
    for (const [name, ns, member] of [['median', curve.own, curve.ownMember],
      ['worst', curve.worst, curve.worstMember]]) {
      const row = tipRow(colourOf(figure, c), `${curve.title}, ${name}`, timeText(ns[i]), member[i]);
      row.append(element('td', {}, element('strong', {}, timesText(ns[i] / curve.other[i]))));
      table.append(row);
    }
  });
}

function fillTip(figure, i) {
  const table = element('table', {}, element('caption', {}, placeText(figure, i)));
  if (figure.cuts) {
    fillTipOfCuts(figure, i, table);
    tip.replaceChildren(table);
    return;
  }
  if (!figure.parameter) {
    const own = figure.curves[0];
    table.append(tipRow(ownColour(figure), figure.own.title, timeText(own.own[i]), own.ownMember[i]));
  }
  figure.curves.forEach((curve, c) => {
    if (hidden.has(keyOf(figure, curve))) return;
    const row = tipRow(colourOf(figure, c), curve.title, timeText(curve.other[i]), curve.member[i]);
    row.append(element('td', {}, element('strong', {}, percentText(advantage(curve, i)))));
    table.append(row);
    const other = published(figure, curve), at = other ? figure.published.sizes.indexOf(sizes[i]) : -1;
    if (at < 0 || other.other[at] === null) return;
    const again = tipRow(colourOf(figure, c), 'as published', timeText(other.other[at]), other.member[at]);
    again.append(element('td', {}, percentText(other.advantage[at])));
    table.append(again);
  });
  tip.replaceChildren(table);
}

function showAt(chart, i, left, top) {
  const at = chart.scales.x(i);
  charts.forEach(other => other.cross.setAttribute('visibility', other === chart ? 'visible' : 'hidden'));
  chart.cross.setAttribute('x1', at);
  chart.cross.setAttribute('x2', at);
  chart.at = i;
  fillTip(chart.figure, i);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = left + 18 + box.width > innerWidth ? left - box.width - 18 : left + 18;
  tip.style.left = Math.max(4, x) + 'px';
  tip.style.top = Math.max(4, Math.min(top - box.height / 2, innerHeight - box.height - 4)) + 'px';
}

function hideTip(chart) {
  tip.hidden = true;
  chart.cross.setAttribute('visibility', 'hidden');
}

function watch(chart) {
  const { svg } = chart;
  const place = i => {
    const box = svg.getBoundingClientRect(), scale = box.width / frame.width;
    showAt(chart, i, box.left + chart.scales.x(i) * scale, box.top + box.height / 2);
  };
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * frame.width / box.width;
    let nearest = 0;
    axisOf(chart.figure).forEach((_, i) => {
      if (Math.abs(chart.scales.x(i) - x) < Math.abs(chart.scales.x(nearest) - x)) nearest = i;
    });
    showAt(chart, nearest, event.clientX, event.clientY);
  });
  svg.addEventListener('pointerleave', () => hideTip(chart));
  svg.addEventListener('blur', () => hideTip(chart));
  svg.addEventListener('focus', () => { if (svg.matches(':focus-visible')) place(chart.at); });
  svg.addEventListener('keydown', event => {
    const last = axisOf(chart.figure).length - 1;
    const move = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key];
    if (event.key === 'Escape') hideTip(chart);
    if (!move) return;
    event.preventDefault();
    place(Math.max(0, Math.min(last, chart.at + move)));
  });
}

/* ---- Cards ------------------------------------------------------------------------------------------------------ */

function legendOf(figure) {
  const legend = element('div', { class: 'legend' });
  figure.curves.forEach((curve, c) => {
    const key = keyOf(figure, curve), colour = colourOf(figure, c);
    const sample = shape('svg', { viewBox: '0 0 30 16', 'aria-hidden': 'true' },
                         shape('path', { d: 'M1,8H29', stroke: colour, 'stroke-width': 2.4 }),
                         shape('path', { d: markerOf(lookOf(figure, c), 15, 8, 4), fill: colour }));
    const button = element('button', { type: 'button', 'aria-pressed': String(!hidden.has(key)), 'data-key': key,
                                       title: 'Show or hide' }, sample, curve.title);
    button.addEventListener('click', () => {
      hidden.has(key) ? hidden.delete(key) : hidden.add(key);
      document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)
        .forEach(other => other.setAttribute('aria-pressed', String(!hidden.has(key))));
      charts.forEach(draw);
    });
    legend.append(button);
  });
  if (figure.cuts) {
    const served = figure.curves.reduce((sum, curve) => sum + curve.served.slice(1).reduce((a, b) => a + b, 0), 0);
    const all = figure.curves.length * (figure.cuts.links.length - 1) * figure.cuts.networks;
    legend.append(element('span', { class: 'note' },
      'solid: median, dashed: worst. A link whose row has failed already ' +
      `is drawn again. Schedules that do not know the cuts serve ${served} of ${all}.`));
    return legend;
  }
  legend.append(element('span', { class: 'note' },
    (figure.published ? '○ published rules   ' : '') + '● edged: goes from L to B' +
                        (figure.own.key === 'trivance' ? '   ┊ Trivance does' : '')));
  return legend;
}

function toolsOf(figure, card) {
  const file = `figures/figure-${String(figure.number).padStart(2, '0')}`;
  const wide = element('button', { type: 'button', 'aria-pressed': 'false', title: 'Wide or narrow' }, '⤢');
  wide.addEventListener('click', () => wide.setAttribute('aria-pressed', String(card.classList.toggle('wide'))));
  const link = (ending, name) => element('a', { href: `${file}.${ending}` }, name);
  return element('div', { class: 'tools' }, link('csv', 'CSV'), link('svg', 'SVG'), wide);
}

function addFigure(figure) {
  const card = element('article', { class: 'card', id: `figure-${figure.number}` });
  const svg = shape('svg', { class: 'plot', viewBox: `0 0 ${frame.width} ${frame.height}`, tabindex: 0, role: 'img',
                             'aria-label': `Figure ${figure.number}, ${figure.title}. Arrow keys read the values.` });
  card.append(element('header', {}, element('span', { class: 'number' }, `Figure ${figure.number}`),
                      element('h3', {}, figure.title), toolsOf(figure, card)), svg, legendOf(figure));
  byId('grid').append(card);
  byId('chips').append(element('a', { href: `#figure-${figure.number}`, title: figure.title }, String(figure.number)));
  const chart = { figure, svg, at: axisOf(figure).length >> 1 };
  charts.push(chart);
  draw(chart);
  watch(chart);
}

function setMode(next) {
  mode = next;
  document.querySelectorAll('[data-mode]').forEach(button =>
    button.setAttribute('aria-pressed', String(button.dataset.mode === mode)));
  byId('mode-hint').textContent = mode === 'relative'
    ? 'Above the line of Trivance, or of planned schedules, these are faster, by that share of the other algorithm’s ' +
      'time; curves leave the frame at ±60 %. Each algorithm is the faster of its L and its B at each size. Hollow ' +
      'markers: by the rules of the paper’s own simulation, relative to Trivance’s time.'
    : 'Both axes are logarithmic. Where the curves differ in a parameter, the dashed ones are Trivance’s.';
  charts.forEach(draw);
}

/* ---- Claims, studies, tables ------------------------------------------------------------------------------------- */

function addTable(parent, caption, head, rows, dense) {
  const body = element('tbody', {});
  for (const row of rows) {
    const line = element('tr', {});
    row.forEach(cell => line.append(cell instanceof Node ? element('td', {}, cell)
      : element('td', typeof cell === 'number' || /^[−+\d]/.test(cell) ? { class: 'n' } : {}, String(cell))));
    body.append(line);
  }
  const titles = element('tr', {}, ...head.map((name, i) =>
    element('th', { scope: 'col', ...(rows[0] && /^[−+\d]/.test(String(rows[0][i])) ? { class: 'n' } : {}) }, name)));
  const table = element('table', dense ? { class: 'dense' } : {}, caption ? element('caption', {}, caption) : null,
                        element('thead', {}, titles), body);
  const scroll = element('div', { class: 'scroll', tabindex: 0 }, table);
  parent.append(scroll);
  return scroll;
}

const measured = data.claims.filter(claim => claim.verdict !== 'not measured');
const badge = verdict => element('span',
  { class: 'badge ' + ({ both: 'agrees', neither: 'differs' }[verdict] || verdict) }, verdict);

function fillClaims(table, chosen) {
  const body = element('tbody', {});
  for (const claim of chosen) {
    const figures = element('span', {});
    claim.figures.forEach((number, i) =>
      figures.append(i ? ', ' : '', element('a', { href: `#figure-${number}` }, String(number))));
    const text = element('td', {}, claim.text);
    if (claim.why) text.append(element('span', { class: 'why' }, claim.why.replaceAll('`', '')));
    const cell = (name, ...content) => element('td', { 'data-name': name }, ...content);
    text.dataset.name = '';
    body.append(element('tr', {}, cell('Section', claim.where), text, cell('Figure', figures), cell('Rule', claim.rule),
                        cell('Published rules', claim.published), cell('Text', claim.measured),
                        cell('Holds by', badge(claim.verdict))));
  }
  const head = ['Section', 'The paper', 'Figure', 'Rule', 'Published rules', 'Text', 'Holds by'];
  const titles = head.map(name => element('th', { scope: 'col' }, name));
  table.replaceChildren(element('thead', {}, element('tr', {}, ...titles)), body);
}

function showClaims(verdict) {
  fillClaims(byId('claim-table'), measured.filter(claim => !verdict || claim.verdict === verdict));
}

function addUnmeasured(claims) {
  const table = element('table', { class: 'claims' });
  fillClaims(table, claims);
  byId('claims').append(element('details', {},
    element('summary', {}, `${claims.length} claims are about figures that are not measured in this run`),
    element('div', { class: 'scroll', tabindex: 0 }, table)));
}

function addClaims() {
  byId('assumptions').textContent = data.assumptions.replaceAll('`', '');
  const count = verdict => data.claims.filter(claim => claim.verdict === verdict).length;
  const kinds = [['', `All ${measured.length}`],
    ...data.verdicts.map(verdict => [verdict, `${count(verdict)} by ${verdict}`])];
  for (const [verdict, name] of kinds) {
    const button = element('button', { type: 'button', 'aria-pressed': String(!verdict) }, name);
    button.addEventListener('click', () => {
      for (const other of byId('claim-filter').children)
        other.setAttribute('aria-pressed', String(other === button));
      showClaims(verdict);
    });
    byId('claim-filter').append(button);
  }
  showClaims('');
  if (measured.length < data.claims.length)
    addUnmeasured(data.claims.filter(claim => claim.verdict === 'not measured'));
}

function addStudies() {
  for (const study of data.studies.filter(one => one.rows.length)) {
    const box = element('div', { class: 'study' }, element('h3', {}, study.title),
                        element('p', {}, study.text.replaceAll('`', '')));
    const change = row => 100 * (row.time[1] / row.time[0] - 1);
    const rows = study.rows.filter(row => Math.abs(change(row)) >= study.threshold);
    const head = ['Torus', 'Algorithm', 'Size', ...study.value.map(value => `--${study.option}=${value}`), 'Change',
                  'Advantage of Trivance', 'with the second'];
    const scroll = addTable(box, '', head, rows.map(row => [element('span', {}, row.torus), row.algorithm,
      bytesText(row.bytes), timeText(row.time[0]), timeText(row.time[1]),
      (change(row) >= 0 && change(row) <= 100 ? '+' : '') + percentText(change(row)),
      percentText(row.advantage[0]), percentText(row.advantage[1])]), true);
    if (rows.length < study.rows.length)
      scroll.append(element('div', { class: 'more' }, `The other ${study.rows.length - rows.length} of the ` +
        `${study.rows.length} that were compared differ by less than ${study.threshold} %.`));
    byId('study-list').append(box);
  }
}

function addTables() {
  const digits = value => value === null ? '' : value.toFixed(4);
  for (const number of [1, 2]) {
    const rows = data.tables.filter(row => row.table === number);
    addTable(byId('table-list'), number === 1 ? 'Table 1: rings' : 'Table 2: tori',
             ['Algorithm', 'Torus', 'Steps', 'Λ', 'paper', 'Δ', 'paper', 'Θ', 'paper', 'limit', ''],
             rows.map(row => [row.algorithm, element('span', {}, row.torus), row.steps, digits(row.lambda),
               digits(row.paper_lambda), digits(row.delta), digits(row.paper_delta), digits(row.theta),
               digits(row.paper_theta), digits(row.paper_theta_limit),
               badge(row.agrees ? 'agrees' : 'differs')]), true);
  }
}

/* ---- The page --------------------------------------------------------------------------------------------------- */

function addHead() {
  const agree = data.claims.filter(claim => ['both', 'text'].includes(claim.verdict)).length;
  const others = new Intl.ListFormat('en-GB').format(data.baselines);
  byId('lead').textContent = `How much faster is AllReduce by Trivance than by ${others}? Every point below is a ` +
    'packet-level simulation, every claim of the paper stands beside what came out.';
  const facts = [[data.figures.length === 1 ? 'figure' : 'figures', data.figures.length],
    ['simulations', data.simulations.toLocaleString('en')],
                 ['packet-hops', (data.packetHops / 1e6).toLocaleString('en', { maximumFractionDigits: 0 }) + ' M'],
                 ['seconds', data.seconds.toFixed(data.seconds < 10 ? 1 : 0)],
                 ['claims hold by the text', `${agree} of ${measured.length}`]];
  for (const [name, value] of facts)
    byId('facts').append(element('div', {}, element('dt', {}, name), element('dd', {}, String(value))));
  byId('made').append('Made by ', element('code', {}, data.command),
                      ` (trivance ${data.version}). Network: ${data.network}.`);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

byId('theme').addEventListener('click', () =>
  setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
setTheme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
document.querySelectorAll('[data-mode]').forEach(button =>
  button.addEventListener('click', () => setMode(button.dataset.mode)));
addHead();
data.figures.forEach(addFigure);
setMode('relative');
addClaims();
addStudies();
addTables();
if (!data.studies.some(study => study.rows.length)) {   // a run of selected figures has none
  byId('studies').hidden = true;
  document.querySelector('nav a[href="#studies"]').hidden = true;
}
