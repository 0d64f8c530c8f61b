// What the pages about memories and about sessions share.
import { html, useMemo, useRef, useState } from "./html.js";
import { address, call, useRoute } from "./api.js";
import { attempt } from "./asking.js";
import { counted } from "./format.js";
import { go, href } from "./nav.js";
import { toast } from "./parts.js";

/** @typedef {import("./api.js").Params} Params */

/** The route of one memory. @param {string} id @param {string} [rest] */
export const routeOf = (id, rest = "") => `/v1/memories/${encodeURIComponent(id)}${rest}`;

/**
 * A list that grows page by page, as far as one scrolls, and that may be changed where it stands: by `grown` rows in all.
 * @param {string} path @param {Params} params @param {(data: any) => any[]} [rowsOf] of what the route answers
 */
export function usePages(path, params, rowsOf = (data) => data.items) {
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

/** Of whom a memory, a fact or one side of a conflict is. @type {Record<string, string>} */
export const SAYS_SO = {
  stated: "you said", corrected: "you said", observed: "seen in a command", inferred: "inferred", file: "in a file",
  user: "you said", assistant: "an agent said", tool: "seen in a tool", import: "imported", api: "handed in", learned: "learned",
};

/** How the address names the project of a namespace. @param {string} namespace */
export const projectIn = (namespace) => namespace.split("/project/")[1]?.slice(0, 12) ?? "";

/** To the session of an event, which only the event knows. @param {{id: string, children?: any}} props */
export function EventLink({ id, children = "event" }) {
  const onClick = () =>
    attempt(async () => {
      const { session_id: session, namespace } = await call("GET", `/v1/events/${id}`);
      go(href("sessions", { project: projectIn(namespace), session, of: namespace, event: id }));
    });
  return html`<button type="button" class="link" onClick=${onClick}>${children}</button>`;
}

/** Hand memories over as a file of the browser's, which `kiro-learn memories import` takes. @param {string} name @param {any[]} memories */
export function saveFile(name, memories) {
  const href = URL.createObjectURL(new Blob(memories.map((each) => `${JSON.stringify(each)}\n`), { type: "application/x-ndjson" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(URL.revokeObjectURL, 10_000, href);
  toast(`${counted(memories.length, "memory", "memories")} in ${name}. Into another home: kiro-learn memories import`);
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
