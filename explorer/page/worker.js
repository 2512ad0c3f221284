/*
 * A worker: answers questions to the core, one after another. It gets the compiled module first.
 */
import { ask } from './core.js';

/** @type {WebAssembly.Module} */ let module;
let told = 0;

self.onmessage = event => {
  const { data } = event;
  if (data.module) {
    module = data.module;
    return;
  }
  const answer = ask(module, data.question, data.files, fraction => {
    const now = performance.now();
    if (now - told < 50) return;
    told = now;
    self.postMessage({ id: data.id, fraction });
  });
  self.postMessage({ id: data.id, answer });
};
