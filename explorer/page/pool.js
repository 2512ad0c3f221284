/*
 * Workers that ask the core. Nothing is computed in the page itself, so it never freezes; what runs can always be
 * cancelled, which ends its worker and begins another.
 */

/** @typedef {import('./core.js').Answer} Answer */
/**
 * @typedef {object} Job
 * @property {number} id
 * @property {string[]} question
 * @property {Map<string, Uint8Array>} files
 * @property {(answer: Answer) => void} resolve
 * @property {(reason: Error) => void} reject
 * @property {(fraction: number) => void} progress
 * @property {AbortSignal | undefined} signal
 */

export class Cancelled extends Error {}

export class Pool {
  /**
   * @param {WebAssembly.Module} module
   * @param {string} script the worker's, as a URL
   * @param {number} size the most workers; they begin when they are needed
   */
  constructor(module, script, size) {
    this.module = module;
    this.script = script;
    /** @type {Job[]} */ this.waiting = [];
    /** @type {{worker: Worker, job: Job | null}[]} */ this.lanes = [];
    this.next = 1;
    this.size = size;
    this.lanes.push({ worker: this.#begin(), job: null });
  }

  #begin() {
    const worker = new Worker(this.script);
    worker.postMessage({ module: this.module });
    worker.onmessage = event => this.#hear(worker, event.data);
    worker.onerror = event => {
      event.preventDefault();
      this.#hear(worker, { answer: { code: 2, out: '', err: `trivance: the browser ended this work: ${event.message || 'it says no more'}\n` } });
    };
    return worker;
  }

  /** @param {Worker} worker @param {{fraction?: number, answer?: Answer}} said */
  #hear(worker, said) {
    const lane = this.lanes.find(one => one.worker === worker);
    if (!lane?.job) return;
    if (said.fraction !== undefined) lane.job.progress(said.fraction);
    if (!said.answer) return;
    const { job } = lane;
    lane.job = null;
    job.resolve(said.answer);
    this.#feed();
  }

  #feed() {
    while (this.waiting.length) {
      let lane = this.lanes.find(one => !one.job);
      if (!lane && this.lanes.length < this.size) this.lanes.push(lane = { worker: this.#begin(), job: null });
      const job = lane ? this.waiting.shift() : undefined;
      if (!lane || !job) return;
      lane.job = job;
      lane.worker.postMessage({ id: job.id, question: job.question, files: job.files });
    }
  }

  /** @param {Job} job */
  #cancel(job) {
    const at = this.waiting.indexOf(job);
    if (at >= 0) this.waiting.splice(at, 1);
    const lane = this.lanes.find(one => one.job === job);
    if (lane) {
      lane.worker.terminate();
      lane.worker = this.#begin();
      lane.job = null;
    }
    if (at >= 0 || lane) job.reject(new Cancelled());
    this.#feed();
  }

  /**
   * @param {string[]} question
   * @param {{files?: Map<string, Uint8Array>, signal?: AbortSignal, progress?: (fraction: number) => void}} options
   * @returns {Promise<Answer>}
   */
  ask(question, { files = new Map(), signal, progress = () => {} } = {}) {
    return new Promise((resolve, reject) => {
      const job = { id: this.next++, question, files, resolve, reject, progress, signal };
      if (signal?.aborted) {
        reject(new Cancelled());
        return;
      }
      signal?.addEventListener('abort', () => this.#cancel(job), { once: true });
      this.waiting.push(job);
      this.#feed();
    });
  }
}

/**
 * The sentence of an answer that is none, without the tool's name.
 * @param {Answer} answer
 */
export function sentenceOf(answer) {
  const lines = answer.err.trim().split('\n').filter(line => !line.includes(': warning: '));
  return (lines[lines.length - 1] ?? 'there is no answer').replace(/^trivance( \w+)?: /, '');
}
