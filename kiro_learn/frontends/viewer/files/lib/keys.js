// Single keys. Off in text fields, with modifiers, below an open dialog, and where they were switched off in Settings.
import { useEffect, useRef } from "./html.js";

/** @typedef {Record<string, (event: KeyboardEvent) => void>} KeyMap */

/** @type {{current: KeyMap}[]} */
const stack = [];
let prefix = "";
let prefixTimer = 0;

const SWITCH = "kl.keys";
export const areKeysOn = () => localStorage.getItem(SWITCH) !== "off";
/** @param {boolean} on */
export const switchKeys = (on) => localStorage.setItem(SWITCH, on ? "on" : "off");

/** While the caller is shown; of two that know a key, the one that came last is asked. `"g m"` is g, then m. @param {KeyMap} keys */
export function useKeys(keys) {
  const mine = useRef(keys);
  mine.current = keys;
  useEffect(() => {
    stack.push(mine);
    return () => void stack.splice(stack.indexOf(mine), 1);
  }, []);
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select"));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    return;
  }
  if (event.key.length === 1 && !areKeysOn()) return;
  const key = prefix + event.key;
  prefix = "";
  clearTimeout(prefixTimer);
  const found = [...stack].reverse().find((each) => each.current[key]);
  if (found) {
    event.preventDefault();
    found.current[key](event);
  } else if (stack.some((each) => Object.keys(each.current).some((name) => name.startsWith(`${key} `)))) {
    prefix = `${key} `;
    prefixTimer = setTimeout(() => (prefix = ""), 1500);
  }
});
