/*
 * Small helpers for elements.
 */

/** @param {string} id @returns {any} */
export const byId = id => document.getElementById(id);

/**
 * @param {string} name
 * @param {Record<string, any>} [attributes] functions are listeners
 * @param {...(Node | string | null | undefined)} children
 * @returns {any}
 */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  set(node, attributes);
  node.append(.../** @type {(Node | string)[]} */ (children.filter(child => child !== null && child !== undefined)));
  return node;
}

/**
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function shape(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  set(node, attributes);
  node.append(...children);
  return node;
}

/** @param {Element} node @param {Record<string, any>} attributes */
function set(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(key.replace(/^on/, ''), value);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
}

/** @type {Map<string, string>} of the current theme */ const colours = new Map();
let theme = '';

/**
 * Returns a colour of the theme. Colours are cached, because reading one makes the browser lay out the page.
 * @param {string} name of a custom property
 */
export function colour(name) {
  const now = document.documentElement.dataset.theme ?? '';
  if (now !== theme) colours.clear();
  theme = now;
  let value = colours.get(name);
  if (value === undefined)
    colours.set(name, value = getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return value;
}

/**
 * Creates a group of buttons of which one is pressed.
 * @param {HTMLElement} group
 * @param {{key: string, text: string, title?: string}[]} choices
 * @param {string} now
 * @param {(key: string) => void} choose
 */
export function segment(group, choices, now, choose) {
  const keys = choices.map(choice => choice.key).join();
  if (group.dataset.keys !== keys) {
    group.dataset.keys = keys;
    group.replaceChildren(
      ...choices.map(choice => element('button', { type: 'button', 'data-key': choice.key, title: choice.title,
      onclick: () => choose(choice.key) }, choice.text)));
  }
  for (const button of group.querySelectorAll('button'))
    button.setAttribute('aria-pressed', String(button.dataset.key === now));
}

/**
 * Returns an entry of a legend: boxes in colours, and what they mean.
 * @param {string[]} colours custom properties, or values
 * @param {string} text
 * @param {string} [kind] a class: the form of the box
 */
export const legendEntry = (colours, text, kind = '') => element('span', { class: 'entry' },
  ...colours.map(one => element('span', { class: `key ${kind}`,
    style: `--colour:${one.startsWith('--') ? `var(${one})` : one}` })), text);

/** Whether the user prefers reduced motion. */
export const prefersReducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * Offers a text as a file for download.
 * @param {string} name
 * @param {string} text
 * @param {string} type
 */
export function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
