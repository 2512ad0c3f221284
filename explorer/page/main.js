/*
 * Start: unpacks and compiles the core, passes it to workers, and creates the views.
 */
import packed from 'explorer:core';
import workerText from 'explorer:worker';
import { App, showProblem } from './app.js';
import { makeChart } from './chart.js';
import { makeControls } from './controls.js';
import { byId, segment } from './dom.js';
import { Pool } from './pool.js';
import { makeSchedule } from './schedule.js';
import { makeShare } from './share.js';
import { makeTimeline } from './timeline.js';
import { makeWhy } from './why.js';

const VIEWS = [{ key: 'network', text: 'Network' }, { key: 'schedule', text: 'Schedule' },
  { key: 'time', text: 'Time' }, { key: 'why', text: 'Why' }];
const WORKERS_MAX = 4, PLACES = 6; // parts of the page that ask the core, each one question at a time

/** @param {App} app */
function makeFrame(app) {
  const root = document.documentElement, dark = matchMedia('(prefers-color-scheme: dark)');
  const paint = (/** @type {boolean} */ isDark) => {
    root.dataset.theme = isDark ? 'dark' : 'light';
    app.draw();
  };
  paint(dark.matches);
  dark.addEventListener('change', event => paint(event.matches));
  byId('theme').onclick = () => paint(root.dataset.theme !== 'dark');
  const narrow = matchMedia('(max-width: 820px)');
  const fold = () => { byId('controls').open = !narrow.matches; };
  fold();
  narrow.addEventListener('change', fold);
  app.views.push(() => segment(byId('views'), VIEWS, app.state.view, view => app.set({ view })));
}

async function begin() {
  const stream = new Blob([/** @type {BlobPart} */ (packed)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  const script = URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' }));
  const cores = Math.max(1, Math.min(WORKERS_MAX, navigator.hardwareConcurrency || 2));
  const app = new App(new Pool(module, script, PLACES), new Pool(module, script, cores));
  for (const make of [makeFrame, makeControls, makeSchedule, makeChart, makeTimeline, makeWhy, makeShare]) make(app);
  app.draw();
}

begin().catch(error => showProblem('begin', `this browser cannot run the explorer: ${error.message}`));
