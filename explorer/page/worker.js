/*
 * A worker: runs the core for one question after another. Its first message contains the compiled module.
 */
import { ask } from './core.js';

/** @type {WebAssembly.Module} */ let module;
let reportedAt = 0;

self.onmessage = event => {
  const { data } = event;
  if (data.module) {
    module = data.module;
    return;
  }
  const answer = ask(module, data.question, data.files, fraction => {
    const now = performance.now();
    if (now - reportedAt < 50) return;
    reportedAt = now;
    self.postMessage({ id: data.id, fraction });
  });
  self.postMessage({ id: data.id, answer });
};
