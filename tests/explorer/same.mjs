/*
 * Compares the explorer's core with the tool, to the last digit, for random but reproducible commands. Usage: node
 * same.mjs CORE.WASM TRIVANCE EXPLORER-CORE [QUESTIONS]
 *
 * Exit codes, error sentences and results are compared; elapsed times are ignored. The page's own subcommands are
 * compared with the same code compiled for this machine.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { ask } from '../../explorer/page/core.js';

const [wasm, tool, own] = process.argv.slice(2, 5).map(path => resolve(path));
const count = process.argv[5] ?? '200';
const module = new WebAssembly.Module(readFileSync(wasm));
const folder = mkdtempSync(join(tmpdir(), 'explorer-'));

let seed = 20240607;
const random = below => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor(seed / 2 ** 32 * below);
};
const pick = list => list[random(list.length)];
const maybe = (chance, ...words) => (random(100) < chance ? words : []);

const TORI = ['9', '8', '12', '27', '9m', '3x3', '4x4', '5x7', '8x8', '9x9', '8x8m', '4mx4m', '3x9', '3x3x3', '4x4x4',
  '2x3x4', '2x2x2x2', '1', '5'];
const NAMES = ['trivance-l', 'trivance-b', 'trivance-l-grouped', 'trivance', 'swing', 'swing-b', 'bruck', 'recdoub',
  'recdoub-l', 'ring', 'bucket', 'hybrid', 'star', 'star:l', 'line-l', 'line-b', 'planned', 'planned', 'trivance-x',
  'line-pipelined', 'star-tree', 'disjoint-trees'];
const SIZES = ['32', '1K', '4000', '32K', '100000', '1M', '7M', '0', '64Q'];

function network() {
  return [
    ...maybe(30, `--bandwidth=${pick(['200Gb/s', '12.5GB/s', '1.6Tb/s', '37Gb/s', '10'])}`),
    ...maybe(30, `--alpha=${pick(['0ns', '5us', '333ns', '1ms', '2'])}`),
    ...maybe(20, `--link-latency=${pick(['10ns', '1us', '77.5ns'])}`),
    ...maybe(10, `--message-overhead=${pick(['100ns', '1us'])}`),
    ...maybe(10, '--gamma=0.01ns'),
    ...maybe(10, `--packet=${pick(['1024', '64K', '100'])}`),
    ...maybe(8, '--delivery=tail'),
  ];
}

const links = () => [
  ...maybe(8, `--cut=${random(12)}:+0`, `--slow-link=${random(9)}:+1:2x`),
  ...maybe(15, `--cut=${random(12)}:${pick(['+0', '-0', '+1', '+2'])}`),
  ...maybe(12, `--slow-link=${random(9)}:${pick(['+0', '-1'])}:${pick(['4x', '1.5x', '10x', 'down'])}`),
];

const collective = () => maybe(30, ...pick([['--collective=broadcast', `--root=${random(9)}`],
  ['--collective=gather', '--root=1'], ['--collective=alltoall'], ['--collective=allgather']]));

const KINDS = {
  plan: () => [pick(TORI), `--bytes=${pick(SIZES)}`, ...network(), ...links(), ...pick([
    ['--format=json', `--algorithm=${pick(NAMES)}`],
    ['--format=json', `--algorithm=${pick(NAMES)}`],
    [`--algorithm=${pick(NAMES)}`],
    ['--why', '--format=json', ...maybe(50, '--consistent')],
  ])],
  cost: () => [pick(TORI), `--bytes=${pick(SIZES)},${pick(SIZES)}`, `--algorithm=${pick(NAMES)}`,
    '--format=json', ...maybe(30, '--bandwidth=200Gb/s'), ...maybe(30, '--alpha=5us'), ...maybe(20, '--limit'),
    ...links()],
  simulate: () => [pick(TORI), `--bytes=${pick(SIZES)},${pick(SIZES)}`, `--algorithm=${pick(NAMES)},${pick(NAMES)}`,
    `--format=${pick(['json', 'json', 'csv'])}`, ...maybe(70, '--model=fifo'), ...maybe(20, '--limit'),
    ...maybe(10, '--links'),
    ...maybe(10, '--jitter=10%', '--seed=7'), ...maybe(8, '--slow-rank=2:3x'), ...network(), ...links()],
  verify: () => [pick(TORI), `--algorithm=${pick([...NAMES, 'all'])}`, '--format=json',
  ...maybe(20, '--collective=reduce-scatter'),
    ...maybe(20, '--method=random'), ...links()],
  layout: () => [pick(TORI), ...maybe(50, `--form=${pick(['ring', 'row', 'grid', 'iso', 'cube'])}`), ...links()],
  picture: () => [pick(TORI), ...collective(), `--algorithm=${pick(NAMES)}`, `--bytes=${pick(SIZES)}`,
  `--step=${random(4) - 1}`, '--rank=-1', ...maybe(50, `--form=${pick(['row', 'iso'])}`), ...links()],
  nodes: () => ['picture', pick(['4x4', '5x7', '8x8m', '9']), ...collective(),
  `--nodes=${pick(['0-3,5,8', '0-7', '1', '2,2', '0-99', 'x'])}`, `--bytes=${pick(SIZES)}`, `--step=${random(4) - 1}`,
  '--rank=-1', ...network(), ...links()],
  timeline: () => [pick(TORI), `--algorithm=${pick(NAMES)}`, `--bytes=${pick(SIZES)}`, ...network(), ...links()],
};

/** Returns schedule files, valid and invalid ones. */
function files() {
  const made = spawnSync(tool, ['plan', '2x4', '--algorithm=swing-b', '--format=json'], { encoding: 'utf8' }).stdout;
  const texts = {
    'good.json': made,
    'wrong.json': made.replace('[0,4,"+0"', '[0,4,"+1"'),
    'lost.json': made.replace(/\n {3}\[0,[^\n]*\n/, '\n'),
    'header.json': made.replace('"registers"', '"registars"'),
    'number.json': made.replace('"vector_bytes": 65536', '"vector_bytes": 6.5e4'),
    'escapes.json': made.replace('"name": "swing-b"', '"name": "\\u00e9\\u20ac\\ud83d\\ude00 \\"\\\\\\u0041é€😀"'),
    'deep.json': `{"format": ${'['.repeat(2000)}${']'.repeat(2000)}}`,
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  return new Map(Object.entries(texts).map(([name, text]) => [name, new TextEncoder().encode(text)]));
}

/** Removes elapsed times: a key in JSON, a column in CSV. */
function withoutClock(text) {
  const column = text.slice(0, text.indexOf('\n')).split(',').indexOf('wall_s');
  if (column < 0) return text.replace(/"(wall_s|seconds)": [^,}]*/g, '');
  return text.split('\n').map(line => line.split(',').filter((_, i) => i !== column).join(',')).join('\n');
}

/** Removes the progress lines that the tool writes on a busy machine. */
const withoutProgress = text => text.replace(/^trivance: .*(\d %.*|takes longer than a minute; .*)\n/gm, '');

let wrong = 0, good = 0;
function compare(question, given, note = '') {
  const program = ['layout', 'picture', 'timeline'].includes(question[0]) ? own : tool;
  const native = spawnSync(program, question, { encoding: 'utf8', cwd: folder, maxBuffer: 1 << 28,
    env: { LC_ALL: 'C.UTF-8', OMP_NUM_THREADS: '1' } });
  const page = ask(module, question, given);
  good += native.status === 0 ? 1 : 0;
  for (const [what, a, b] of [['exit code', native.status, page.code],
    ['sentence', withoutProgress(native.stderr), page.err],
    ['answer', withoutClock(native.stdout), withoutClock(page.out)]]) {
    if (a === b) continue;
    let at = 0;
    while (String(a)[at] === String(b)[at]) at++;
    console.log(`trivance ${question.join(' ')}${note}\n` +
      `  ${what} of the tool: ${String(a).slice(Math.max(0, at - 60), at + 100)}\n` +
      `  ${what} of the core: ${String(b).slice(Math.max(0, at - 60), at + 100)}`);
    wrong++;
  }
}

compare(['plan', '9', '--all-sizes', '--format=csv'], new Map());
const kinds = Object.keys(KINDS);
for (let i = 0; i < Number(count); i++) {
  const kind = kinds[i % kinds.length];
  compare(kind === 'nodes' ? KINDS.nodes() : [kind, ...KINDS[kind]()], new Map());
}
const given = files();
for (const name of given.keys()) {
  compare(['verify', `--schedule=${name}`, '--format=json'], given);
  compare(['simulate', `--schedule=${name}`, '--bytes=1K,1M', '--format=json'], given);
  compare(['picture', `--schedule=${name}`, '--step=-1', '--rank=-1'], given);
  compare(['layout', `--schedule=${name}`], given);
}
compare(['verify', '--schedule=missing.json'], given);

/* Faulty JSON: the same sentence, line and column. */
const FAULTS = ['', ' ', '7', '{', '[', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '[1,', '[1,]', '[1 2]',
  '{1:2}', '{"a" 1}', '{"a":1}}', '[]\n\n x', '{"a":1,\n "a":2}',
  '{"a": tru}', '{"a": nullx}', '[nothing that is short]', '[-]', '[01]', '[-01]', '[1.]', '[1.e5]', '[1e]', '[1e+]',
  '[+1]', '[.5]', '[9223372036854775808]', '[-9223372036854775809]',
  '[1e999]', '[1e-999]', '[0x10]', '["a', '["a\n"]', '["a\tb"]', '["\\x"]', '["\\u12"]', '["\\u12g4"]', '["\\ud800"]',
  '["\\ud800\\n"]', '["\\ud800\\u0041"]', '["\\udc00"]', '["\\u0000"]',
  '{"\\u0000": 1}', '["é€😀" x]', '[é]', '[\u2028]', '["aaaaaaaaaaaaaaaaaaaaaaaaaaaa\\q"]', '\ufeff[]', "['a']",
  '[1,,2]', '[,]', '{,}', '[1}', '{"a":1]', '// x\n[]', '[1] // x'];
const good_file = readFileSync(join(folder, 'escapes.json'));
const encoder = new TextEncoder();
const faulty = [...FAULTS.map(text => encoder.encode(text)),
  // not UTF-8
  ...[[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe0, 0x80, 0x80]].flatMap(bytes =>
    ['{"format": "', '[', '["long enough, so that it is not shown '].map(before =>
    Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from('"}')]))),
  ...Array.from({ length: 100 }, () => { // a file with a byte changed, removed or added, or its end cut off
    const at = random(Math.min(good_file.length, 600)),
      byte = encoder.encode(pick(['"', '{', '}', '[', ']', ',', ':', '\\', '\n', 'x', '1', '-', '.']));
    return Buffer.concat([good_file.subarray(0, at),
      ...pick([[byte, good_file.subarray(at + 1)], [good_file.subarray(at + 1)], [byte, good_file.subarray(at)], []])]);
  })];
for (const [i, bytes] of faulty.entries()) {
  writeFileSync(join(folder, 'faulty.json'), bytes);
  compare(['verify', '--schedule=faulty.json', '--format=json'], new Map([['faulty.json', new Uint8Array(bytes)]]),
    ` (faulty ${i}: ${Buffer.from(bytes).toString().slice(0, 60)})`);
}
rmSync(folder, { recursive: true });
const questions = Number(count) + 4 * given.size + 2 + faulty.length;
console.log(`${questions} questions, ${good} of them with good answers: ${wrong} differ`);
process.exit(wrong || good < Number(count) / 2 ? 1 : 0);
