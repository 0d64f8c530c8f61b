// @ts-check
// Preact, its hooks and htm under one name, and the only place that turns text into the address of a script.
import { Fragment, h, render } from "../vendor/preact.js";
import {
  useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useReducer, useRef, useState,
} from "../vendor/preact-hooks.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export {
  Fragment, h, render,
  useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useReducer, useRef, useState,
};

const ROOT = new URL("../", import.meta.url);

/** @param {string} path @returns {string} of a file of ours; anything else throws */
function own(path) {
  const url = new URL(path, ROOT);
  if (url.origin !== location.origin || !url.pathname.startsWith(ROOT.pathname)) throw new TypeError("not a file of ours");
  return url.href;
}

const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("kl", { createScriptURL: own });

/** The address of a script or worker of ours, as Trusted Types want it. @param {string} path relative to /ui/ @returns {any} */
export const scriptUrl = (path) => (policy ? policy.createScriptURL(path) : own(path));

/** @type {Map<string, Promise<void>>} */
const scripts = new Map();

/** Run a classic script once. @param {string} path relative to /ui/ @returns {Promise<void>} */
export function loadScript(path) {
  const known = scripts.get(path);
  if (known) return known;
  const loaded = new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
    const script = document.createElement("script");
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`could not load ${path}`));
    script.src = scriptUrl(path);
    document.head.append(script);
  });
  scripts.set(path, loaded);
  return loaded;
}

/** Bring a stylesheet in, once for all. @param {string} path relative to /ui/ */
export function useStyle(path) {
  useLayoutEffect(() => {
    const href = own(path);
    if (document.querySelector(`link[href="${href}"]`)) return;
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    document.head.append(link);
  }, [path]);
}
