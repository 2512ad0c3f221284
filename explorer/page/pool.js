/*
 * Workers that run the core. Nothing is computed in the page itself, so it never freezes. Every question can be
 * cancelled, which terminates its worker and starts another.
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
   * @param {number} size maximum number of workers; they are started on demand
   */
  constructor(module, script, size) {
    this.module = module;
    this.script = script;
    /** @type {Job[]} */ this.waiting = [];
    /** @type {{worker: Worker, job: Job | null}[]} */ this.slots = [];
    this.next = 1;
    this.size = size;
    this.slots.push({ worker: this.#begin(), job: null });
  }

  #begin() {
    const worker = new Worker(this.script);
    worker.postMessage({ module: this.module });
    worker.onmessage = event => this.#receive(worker, event.data);
    worker.onerror = event => {
      event.preventDefault();
      this.#receive(worker, { answer: { code: 2, out: '',
        err: `trivance: the browser terminated the worker: ${event.message || 'no reason is known'}\n` } });
    };
    return worker;
  }

  /** @param {Worker} worker @param {{fraction?: number, answer?: Answer}} message */
  #receive(worker, message) {
    const slot = this.slots.find(one => one.worker === worker);
    if (!slot?.job) return;
    if (message.fraction !== undefined) slot.job.progress(message.fraction);
    if (!message.answer) return;
    const { job } = slot;
    slot.job = null;
    job.resolve(message.answer);
    this.#dispatch();
  }

  #dispatch() {
    while (this.waiting.length) {
      let slot = this.slots.find(one => !one.job);
      if (!slot && this.slots.length < this.size) this.slots.push(slot = { worker: this.#begin(), job: null });
      const job = slot ? this.waiting.shift() : undefined;
      if (!slot || !job) return;
      slot.job = job;
      slot.worker.postMessage({ id: job.id, question: job.question, files: job.files });
    }
  }

  /** @param {Job} job */
  #cancel(job) {
    const at = this.waiting.indexOf(job);
    if (at >= 0) this.waiting.splice(at, 1);
    const slot = this.slots.find(one => one.job === job);
    if (slot) {
      slot.worker.terminate();
      slot.worker = this.#begin();
      slot.job = null;
    }
    if (at >= 0 || slot) job.reject(new Cancelled());
    this.#dispatch();
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
      this.#dispatch();
    });
  }
}

/**
 * Returns the error message of a failed answer, without the tool's name.
 * @param {Answer} answer
 */
export function sentenceOf(answer) {
  const lines = answer.err.trim().split('\n').filter(line => !line.includes(': warning: '));
  return (lines[lines.length - 1] ?? 'the core returned no message').replace(/^trivance( \w+)?: /, '');
}
