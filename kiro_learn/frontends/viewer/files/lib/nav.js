// @ts-check
// The address bar is the state: the path is the page, the query every filter and the open panel.
import { useEffect, useState } from "./html.js";

/** @typedef {Record<string, string>} Query */
/** @typedef {{page: string, query: Query}} Place */

const changed = new EventTarget();
export const START = "overview";

/** @returns {Place} */
export function here() {
  const page = location.pathname.replace(/^\/ui\/?/, "").replace(/\/$/, "");
  return { page: page || START, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

/**
 * The address of a page, with the project that is chosen now.
 * @param {string} page
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function href(page, query = {}) {
  const asked = new URLSearchParams();
  const all = { project: here().query.project, ...query };
  for (const [name, value] of Object.entries(all)) if (value != null && value !== "") asked.set(name, String(value));
  return `/ui/${page === START ? "" : page}${asked.size ? `?${asked}` : ""}`;
}

/** @param {string} address @param {{replace?: boolean}} [how] */
export function go(address, { replace = false } = {}) {
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
  changed.dispatchEvent(new Event("place"));
}

/**
 * Merge into the query of the page that is shown; null removes.
 * @param {Record<string, string | number | null | undefined>} changes
 * @param {{replace?: boolean}} [how]
 */
export function setQuery(changes, how) {
  const { page, query } = here();
  go(href(page, { ...query, ...changes }), how);
}

/** @returns {Place} the place that is shown, also after Back */
export function usePlace() {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const update = () => setPlace(here());
    window.addEventListener("popstate", update);
    changed.addEventListener("place", update);
    return () => {
      window.removeEventListener("popstate", update);
      changed.removeEventListener("place", update);
    };
  }, []);
  return place;
}

/** Keep a plain click on a link of ours within the tab's one document. @param {MouseEvent} event */
export function onLinkClick(event) {
  const link = /** @type {HTMLElement} */ (event.target).closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target || link.hasAttribute("download")) return;
  if (link.origin !== location.origin || !link.pathname.startsWith("/ui/") || /\.\w+$/.test(link.pathname)) return;
  if (link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
}
