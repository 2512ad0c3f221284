/*
 * What all views share: the state, questions to the core with the last answers kept, messages to the user.
 */
import { byId } from './dom.js';
import { Cancelled, sentenceOf } from './pool.js';
import { readHash, writeHash } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./core.js').Answer} Answer */
/** @typedef {import('./pool.js').Pool} Pool */

const KEPT = 60;

export class App {
  /** @param {Pool} quick one worker that answers the controls @param {Pool} busy those that simulate */
  constructor(quick, busy) {
    this.quick = quick;
    this.busy = busy;
    this.state = readHash(location.hash);
    /** @type {{name: string, text: string, bytes: Uint8Array} | null} a schedule of the user's */ this.file = null;
    /** @type {Map<string, Answer>} */ this.kept = new Map();
    /** @type {Map<string, AbortController>} */ this.pending = new Map();
    /** @type {(() => void)[]} */ this.views = [];
    this.drawing = false;
    addEventListener('hashchange', () => {
      if (location.hash === writeHash(this.state)) return;
      this.state = readHash(location.hash);
      this.draw();
    });
  }

  /**
   * Changes what is shown.
   * @param {Partial<State>} patch
   */
  set(patch) {
    Object.assign(this.state, patch);
    history.replaceState(null, '', writeHash(this.state));
    this.draw();
  }

  draw() {
    if (this.drawing) return;
    this.drawing = true;
    queueMicrotask(() => {
      this.drawing = false;
      for (const view of this.views) view();
    });
  }

  get files() {
    return this.file ? new Map([[this.file.name, this.file.bytes]]) : new Map();
  }

  /**
   * Asks for a place in the page: a later question for the same place cancels this one, which is then null.
   * @param {string} place @param {string[]} question @param {Pool} [pool] @param {(fraction: number) => void} [progress]
   * @returns {Promise<Answer | null>}
   */
  async ask(place, question, pool = this.quick, progress) {
    const key = `${this.file ? this.file.text.length + this.file.name : ''} ${question.join(' ')}`, kept = this.kept.get(key);
    this.pending.get(place)?.abort();
    this.pending.delete(place);
    if (kept) return kept;
    const controller = new AbortController();
    this.pending.set(place, controller);
    try {
      const answer = await pool.ask(question, { files: this.files, signal: controller.signal, progress });
      this.kept.set(key, answer);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value ?? '');
      return answer;
    } catch (error) {
      if (error instanceof Cancelled) return null;
      throw error;
    } finally {
      if (this.pending.get(place) === controller) this.pending.delete(place);
    }
  }

  /** @param {string} place */
  cancel(place) {
    this.pending.get(place)?.abort();
    this.pending.delete(place);
  }
}

/** @type {Map<string, string>} */ const problems = new Map();

/**
 * The tool's sentence about what a part of the page asked; null: there is none any more.
 * @param {string} part
 * @param {Answer | string | null} answer
 */
export function complain(part, answer) {
  if (answer === null) problems.delete(part);
  else problems.set(part, typeof answer === 'string' ? answer : sentenceOf(answer));
  const box = byId('problem'), text = [...new Set(problems.values())].join('. ');
  if (box.textContent !== text) box.textContent = text;
  box.hidden = !text;
}

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
