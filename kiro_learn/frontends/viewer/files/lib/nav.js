// The address bar is the state: the path is the page, the query every filter and the open panel.
import { address } from "./api.js";
import { shared } from "./html.js";

/** @typedef {Record<string, string>} Query */
/** @typedef {{page: string, query: Query}} Place */
/** @typedef {{name: string, namespace: string, project_id: string}} Project */
/** @typedef {(changes: Record<string, string | number | null | undefined>, how?: {replace?: boolean}) => void} SetQuery */
/** @typedef {{query: Query, setQuery: SetQuery, project: Project | null, projects: Project[], nameOf: (namespace?: string) => string, onProjects: () => void}} PageProps
 *   `project` is the chosen one; `nameOf` says nothing while there is one; `onProjects` reads anew which there are */

const START = "overview";

/** @returns {Place} */
export function here() {
  const page = location.pathname.replace(/^\/ui\/?/, "").replace(/\/$/, "");
  return { page: page || START, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

/** The place that is shown, also after Back. */
export const place = shared(here());
window.addEventListener("popstate", () => place.set(here()));

/** Whether a field says something else than at first. @param {any} field */
export const isChanged = ({ value, defaultValue }) => defaultValue !== undefined && value !== defaultValue.replaceAll("\r\n", "\n");

/** How the address names a project. @param {{project_id: string}} project */
export const short = ({ project_id }) => project_id.slice(0, 12);

/** The address of a page, with the project that is chosen now. @param {string} page @param {import("./api.js").Params} [query] */
export const href = (page, query) => address(`/ui/${page === START ? "" : page}`, { project: here().query.project, ...query });

/** @param {string} address @param {{replace?: boolean}} [how] */
export function go(address, { replace = false } = {}) {
  if (address !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
  place.set(here());
}

/** Merge into the query of the page that is shown; null removes. @type {SetQuery} */
export const setQuery = (changes, how) => go(href(here().page, { ...here().query, ...changes }), how);

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
