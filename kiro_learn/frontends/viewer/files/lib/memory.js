// @ts-check
// What the pages about memories and about sessions share.
import { html, useMemo, useRef, useState } from "./html.js";
import { address, ApiError, call, useRoute } from "./api.js";
import { toast } from "./parts.js";

/** @typedef {import("./api.js").Params} Params */

/** What sort of memory it is, as people read it. @param {any} memory */
export const typeOf = (memory) => String(memory.capture_type ?? memory.knowledge_type ?? memory.observation_type).replaceAll("_", " ");

/** The route of one memory. @param {string} id @param {string} [rest] */
export const routeOf = (id, rest = "") => `/v1/memories/${encodeURIComponent(id)}${rest}`;

/** Do something to the store; what it refuses is said in a toast, and null is the answer. @param {() => Promise<any>} action */
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`Not done: ${error.message}.${error.hint ? ` ${error.hint}` : ""}`);
    return null;
  }
}

/**
 * A list that grows page by page, as far as one scrolls, and that may be changed where it stands: by `grown` rows in all.
 * @param {string} path
 * @param {Params} params
 * @param {(data: any) => any[]} rowsOf of what the route answers
 */
export function usePages(path, params, rowsOf) {
  const route = useRoute(path, params);
  const first = useMemo(() => ({ of: route.data, rows: route.data ? rowsOf(route.data) : [], cursor: route.data?.next_cursor ?? null, grown: 0 }), [route.data]);
  const [later, setLater] = useState(first);
  const running = useRef(/** @type {any} */ (null));
  const now = later.of === first.of ? later : first;
  const change = (/** @type {(rows: any[]) => any[]} */ by) =>
    setLater((old) => {
      const base = old.of === first.of ? old : first;
      const rows = by(base.rows);
      return { ...base, rows, grown: base.grown + rows.length - base.rows.length };
    });
  const more = async () => {
    if (running.current === now.cursor) return;
    running.current = now.cursor;
    const page = await attempt(() => call("GET", address(path, { ...params, cursor: now.cursor })));
    running.current = null;
    if (page) setLater({ ...now, rows: [...now.rows, ...rowsOf(page)], cursor: page.next_cursor });
  };
  return { route, rows: now.rows, grown: now.grown, more: now.cursor ? more : null, change };
}

/** How the projects are called, by namespace; asked for only where that is `needed`. @param {boolean} needed */
export function useProjectNames(needed) {
  const { data } = useRoute(needed ? "/v1/stats" : null);
  return useMemo(
    () => Object.fromEntries((data?.projects ?? []).map((/** @type {any} */ each) => [each.namespace, each.display_name.split("/").pop()])),
    [data],
  );
}

/** A part of a whole as a bar with its word. @param {{word: string, part: number, kind: string}} props 0 to 1 */
export const Bar = ({ word, part, kind }) => html`
  <span class="bar" title="${word} ${Math.round(part * 100)} of 100">
    <span class="small muted">${word}</span>
    <svg viewBox="0 0 40 8" width="40" height="8" aria-hidden="true">
      <rect width="40" height="8" rx="2" class="rest" /><rect width=${Math.max(part > 0 ? 2 : 0, part * 40)} height="8" rx="2" class=${kind} />
    </svg>
  </span>
`;
