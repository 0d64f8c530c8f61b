// Preact, its hooks and htm under one name, and the only place that turns text into the address of a script.
import { h, render } from "../vendor/preact.js";
import { useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-hooks.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export { render, useCallback, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState };

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

const scripts = /** @type {Record<string, Promise<Event>>} */ ({});

/** Run a classic script once. @param {string} path relative to /ui/ */
export const loadScript = (path) =>
  (scripts[path] ??= new Promise((onload, fail) => {
    const onerror = () => fail(new Error(`could not load ${path}`));
    document.head.append(Object.assign(document.createElement("script"), { onload, onerror, src: scriptUrl(path) }));
  }));

/** A value that several components show; `value` is the first. @template T @param {T} value */
export function shared(value) {
  const drawn = /** @type {Set<(value: T) => void>} */ (new Set());
  const set = (/** @type {T} */ next) => {
    value = next;
    drawn.forEach((draw) => draw(value));
  };
  const use = () => {
    const [shown, setShown] = useState(value);
    useEffect(() => {
      const draw = (/** @type {T} */ next) => setShown(() => next);
      drawn.add(draw);
      draw(value);
      return () => void drawn.delete(draw);
    }, []);
    return shown;
  };
  return { get: () => value, set, use };
}

/** Bring in the stylesheet of a module, as it is loaded. @param {string} path relative to /ui/ */
export function addStyle(path) {
  const href = own(path);
  if (!document.querySelector(`link[href="${href}"]`)) document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));
}
