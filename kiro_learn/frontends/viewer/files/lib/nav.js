// The address bar is the state: the path is the page, the query every filter and the open panel. What is typed and not saved is
// not in it, and is lost only once the person lets it go.
import { address } from "./api.js";
import { shared, useEffect } from "./html.js";

/** @typedef {{name: string, namespace: string, project_id: string}} Project */
/** @typedef {(changes: Record<string, string | number | null | undefined>, how?: {replace?: boolean}) => void} SetQuery */
/** @typedef {{query: Record<string, string>, setQuery: SetQuery, project: Project | null, projects: Project[], nameOf: (namespace?: string) => string, onProjects: () => void}} PageProps
 *   `project` is the chosen one; `nameOf` says nothing while there is one; `onProjects` reads anew which there are */

const START = "overview";

const here = () => ({
  page: location.pathname.replace(/^\/ui\/?/, "").replace(/\/$/, "") || START,
  query: /** @type {Record<string, string>} */ (Object.fromEntries(new URLSearchParams(location.search))),
});

/** The place that is shown, also after Back. */
export const place = shared(here());
let shown = location.pathname + location.search;
const show = () => {
  shown = location.pathname + location.search;
  place.set(here());
};

/** The forms that are shown. @type {Set<{current: any}>} */
const forms = new Set();
/** What is done once the person lets go what was typed. */
export const leaving = shared(/** @type {(() => void) | null} */ (null));
/** Whether a field says something else than at first. @param {any} field */
export const isChanged = ({ value, defaultValue }) => defaultValue !== undefined && value !== defaultValue.replaceAll("\r\n", "\n");
const isTyped = (losing = forms) => [...losing].some(({ current }) => [...(current?.elements ?? [])].some(isChanged));

/** Do it; if something typed would be lost, only after a question. @param {() => void} act @param {typeof forms} [losing] forms that would be gone */
export function leave(act, losing) {
  if (isTyped(losing)) leaving.set(act);
  else act();
}

/** The answer to that question: let it go. */
export function discard() {
  const act = leaving.get();
  leaving.set(null);
  forms.clear();
  act?.();
}

/** What is typed into this form is not lost unasked. @param {{current: any}} form @returns {(act: () => void) => void} as `leave`, where only it would be gone */
export function useForm(form) {
  useEffect(() => {
    forms.add(form);
    return () => void forms.delete(form);
  }, []);
  return (act) => leave(act, new Set([form]));
}

window.addEventListener("beforeunload", (event) => isTyped() && event.preventDefault());
window.addEventListener("popstate", () => {
  if (location.pathname + location.search === shown || !isTyped()) return show();
  history.pushState(null, "", shown); // Back has left already
  leaving.set(() => history.back());
});

/** How the address names a project. @param {{project_id: string}} project */
export const short = ({ project_id }) => project_id.slice(0, 12);

/** The address of a page, with the project that is chosen now. @param {string} page @param {import("./api.js").Params} [query] */
export const href = (page, query) => address(`/ui/${page === START ? "" : page}`, { project: here().query.project, ...query });

/** @param {string} address @param {{replace?: boolean}} [how] */
export function go(address, { replace = false } = {}) {
  if (address === shown) return show();
  leave(() => {
    history[replace ? "replaceState" : "pushState"](null, "", address);
    show();
  });
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
