/*
 * The state of the page, requests to the core with a cache of the latest answers, and messages to the user; shared by
 * all views.
 */
import { byId, element } from './dom.js';
import { Cancelled, sentenceOf } from './pool.js';
import { readHash, writeHash } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./core.js').Answer} Answer */
/** @typedef {import('./pool.js').Pool} Pool */

const CACHE_ENTRIES_MAX = 60, CACHE_CHARACTERS_MAX = 64 << 20, ADDRESS_MS = 250;

export class App {
  /** @param {Pool} quick one worker that answers the controls @param {Pool} busy those that simulate */
  constructor(quick, busy) {
    this.quick = quick;
    this.busy = busy;
    /** @type {State} */ this.state = readHash('').state;
    this.read = false; // whether the state is that of an address that the user gave
    /** @type {import('./schedule.js').UserFile | null} a schedule of the user's */ this.file = null;
    /** @type {Map<string, Answer>} */ this.cache = new Map();
    /** @type {Map<string, AbortController>} */ this.pending = new Map();
    /** @type {(() => void)[]} */ this.views = [];
    this.drawing = false;
    this.addressed = -Infinity; // time of the last write of the address
    this.addressTimer = 0;
    addEventListener('hashchange', () => {
      clearTimeout(this.addressTimer);
      if (location.hash === writeHash(this.state)) return;
      this.#readAddress();
      this.draw();
    });
    this.#readAddress();
  }

  #readAddress() {
    const { state, problem } = readHash(location.hash);
    this.state = state;
    this.read = true;
    for (const part of TEMPORARY) showProblem(part, null);
    showProblem('address', problem);
  }

  /**
   * Changes what is shown.
   * @param {Partial<State>} patch
   */
  set(patch) {
    if (patch.view && patch.view !== this.state.view) {
      this.address(); // the entry of the history to which the browser's button returns
      history.pushState(null, '', writeHash({ ...this.state, ...patch }));
    }
    Object.assign(this.state, patch);
    this.read = false;
    for (const part of TEMPORARY) showProblem(part, null);
    // browsers allow a hundred writes in ten seconds; a slider changes the state more often
    clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(() => this.address(),
      Math.max(0, this.addressed + ADDRESS_MS - performance.now()));
    this.draw();
  }

  /** Puts everything that is shown into the address, now. */
  address() {
    clearTimeout(this.addressTimer);
    this.addressed = performance.now();
    history.replaceState(null, '', writeHash(this.state));
  }

  draw() {
    if (this.drawing) return;
    this.drawing = true;
    queueMicrotask(() => {
      this.drawing = false;
      for (const view of this.views) view();
    });
  }

  /** @returns {Map<string, Uint8Array>} */
  get files() {
    return this.file ? new Map([[this.file.name, this.file.bytes]]) : new Map();
  }

  /**
   * Returns the cache key of a question. It includes the identity of the file, because two files may have the same
   * name.
   * @param {string[]} question
   */
  keyOf(question) {
    return JSON.stringify([this.file?.id ?? 0, ...question]);
  }

  /**
   * Asks the core for one part of the page. A later question for the same part cancels this one, whose answer is then
   * null.
   * @param {string} place
   * @param {string[]} question
   * @param {{pool?: Pool, progress?: (fraction: number) => void, files?: Map<string, Uint8Array>}} [options] files:
   *   other than the page's
   * @returns {Promise<Answer | null>}
   */
  async ask(place, question, options = {}) {
    const { pool = this.quick, progress, files } = options;
    const key = this.keyOf(question), kept = files ? undefined : this.cache.get(key);
    this.cancel(place);
    if (kept) return kept;
    const controller = new AbortController();
    this.pending.set(place, controller);
    try {
      const answer = await pool.ask(question, { files: files ?? this.files, signal: controller.signal, progress });
      if (!files) this.#keep(key, answer);
      return answer;
    } catch (error) {
      if (error instanceof Cancelled) return null;
      throw error;
    } finally {
      if (this.pending.get(place) === controller) this.pending.delete(place);
    }
  }

  /** @param {string} key @param {Answer} answer */
  #keep(key, answer) {
    this.cache.set(key, answer);
    let characters = [...this.cache.values()].reduce((sum, one) => sum + one.out.length, 0);
    for (const [oldest, { out }] of this.cache) {
      if (this.cache.size <= CACHE_ENTRIES_MAX && characters <= CACHE_CHARACTERS_MAX) return;
      this.cache.delete(oldest);
      characters -= out.length;
    }
  }

  /** @param {string} place */
  cancel(place) {
    this.pending.get(place)?.abort();
    this.pending.delete(place);
  }
}

/** @type {Map<string, string>} */ const problems = new Map();
const TEMPORARY = ['address', 'step', 'open', 'save']; // parts whose errors disappear at the next change of the state

/**
 * Shows the error of the latest question of a part of the page; null removes it.
 * @param {string} part
 * @param {Answer | string | null} answer
 */
export function showProblem(part, answer) {
  if (answer === null) problems.delete(part);
  else problems.set(part, typeof answer === 'string' ? answer : sentenceOf(answer));
  const box = byId('problem'), text = [...new Set(problems.values())].join('. ');
  if (box.textContent !== text) box.textContent = text;
  box.hidden = !text;
}

/**
 * Creates a button that cancels the question of a part of the page.
 * @param {App} app @param {string} place
 */
export const cancelButton = (app, place) => element('button', { type: 'button', class: 'quiet', id: `stop-${place}`,
  onclick: () => app.cancel(place) }, 'Cancel');

let toastTimer = 0;
/** @param {string} text */
export function toast(text) {
  byId('toast').textContent = text;
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => { byId('toast').textContent = ''; }, 2400);
}

/** @param {{x: number, y: number} | null} at @param {string} [text] */
export function tip(at, text = '') {
  const box = byId('tip');
  box.hidden = !at || !text;
  if (!at || !text) return;
  box.textContent = text;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(8, Math.min(at.x + 14, innerWidth - width - 8))}px`;
  box.style.top = `${at.y + 18 + height > innerHeight ? at.y - height - 12 : at.y + 18}px`;
}
