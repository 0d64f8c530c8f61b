// What pages are made of.
import { html, shared, useEffect, useErrorBoundary, useId, useLayoutEffect, useRef, useState } from "./html.js";
import { ago, count } from "./format.js";
import { liveState } from "./live.js";

/** @typedef {import("./api.js").RouteState} RouteState */

const TOAST_MS = 8000;
const SPOKEN_SECONDS = 10;

/** Icons are drawn here: text glyphs come out uneven. @type {Record<string, string>} */
const ICONS = {
  overview: "M2 2h5v5H2zM9 2h5v3H9zM9 7h5v7H9zM2 9h5v5H2z",
  memories: "M3 2h8l2 2v10H3zM6 6h4M6 9h4",
  sessions: "M2 3h12v8H7l-3 3v-3H2z",
  graph: "M4 4l8 2M4 4l3 8M12 6l-5 6M2 4a2 2 0 1 0 4 0a2 2 0 1 0-4 0M10.5 6a2 2 0 1 0 4 0a2 2 0 1 0-4 0M5 12a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  retrievals: "M2 8h9M8 4l4 4-4 4M14 2v12",
  brief: "M3 2h10v12H3zM5.5 5h5M5.5 7.5h5M5.5 10h3",
  projects: "M2 4h4l1.5 2H14v7H2z",
  settings: "M2 5h7M12 5h2M2 11h2M7 11h7M9 5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M4 11a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
  back: "M10 3L5 8l5 5",
  copy: "M6 6h7v7H6zM3 10V3h7",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
};

/** @param {{name: string}} props one of ICONS */
export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${ICONS[name]} /></svg>
`;

/** @param {{title: string, route: RouteState, empty?: any, children: (data: any) => any, actions?: any}} props */
export function Box({ title, route, empty, children, actions }) {
  const id = useId();
  return html`
    <section class="box" aria-labelledby=${id}>
      <header><h2 id=${id}>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</header>
      <${State} ...${{ title, route, empty, children }} />
    </section>
  `;
}

/**
 * The content of a box: loading, error, empty or `children(data)`. `empty` is shown where the data is an empty list, or has an
 * empty `items`; as a function of the data it says itself what to show, or null.
 * @param {{title: string, route: RouteState, empty?: any, children: (data: any) => any}} props
 */
export function State({ title, route, empty, children }) {
  const { data, error, loading, reload } = route;
  const [broken] = useErrorBoundary();
  if (broken) return html`<${Problem} what=${title} message="the viewer cannot show it." hint=${String(broken)} retry=${reload} />`;
  if (error) return html`<${Problem} what=${title} message="${error.message}." hint=${error.hint} retry=${reload} />`;
  if (data === null) return loading ? html`<${Loading} reload=${reload} />` : null;
  const isEmpty = (Array.isArray(data) ? data : (data.items ?? [0])).length === 0;
  const nothing = typeof empty === "function" ? empty(data) : isEmpty ? empty : null;
  return html`<div class=${loading ? "content stale" : "content"}>${nothing ? html`<${Empty}>${nothing}<//>` : children(data)}</div>`;
}

/** Tries again by itself once the daemon is back. @param {{what: string, message: string, hint: string, retry: () => void}} props */
function Problem({ what, message, hint, retry }) {
  const { isLive, isLost } = liveState.use();
  const wasLost = useRef(isLost);
  useEffect(() => {
    if (isLive && wasLost.current) retry();
    wasLost.current = isLost;
  }, [isLive, isLost]);
  return html`
    <div class="problem" role="alert">
      <p>Could not read ${what.toLowerCase()}: ${message}</p>
      ${hint && html`<p><code>${hint}</code></p>`}
      <button onClick=${retry}>Retry</button>
    </div>
  `;
}

/** Blocks after 150 ms, words after 5 s: by the stylesheet. @param {{reload: () => void}} props */
const Loading = ({ reload }) => html`
  <div class="blocks" aria-busy="true"><i></i><i></i><i></i><p class="muted">Still loading · 5 s <button onClick=${reload}>Retry</button></p></div>
`;

/** @param {{children: any}} props */
export const Empty = ({ children }) => html`<div class="empty">${children}</div>`;

/** Asks before something is done; the focus is on Cancel. @param {{title: string, onClose: () => void, children: any, actions?: any, cancel?: string}} props */
export function Dialog({ title, onClose, children, actions, cancel = "Cancel" }) {
  const id = useId();
  const dialog = useRef(/** @type {any} */ (null));
  const button = useRef(/** @type {any} */ (null));
  useLayoutEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current;
    shown.showModal();
    button.current.focus();
    return () => {
      shown.close(); // what is behind an open one takes no focus
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return html`
    <dialog ref=${dialog} aria-labelledby=${id} onCancel=${(/** @type {Event} */ event) => (event.preventDefault(), onClose())}>
      <h2 id=${id}>${title}</h2>
      <div class="content">${children}</div>
      <footer><button ref=${button} onClick=${onClose}>${cancel}</button>${actions}</footer>
    </dialog>
  `;
}

/** Calls `run` at most once in that time. @param {() => void} run @param {number} seconds */
export function useSoon(run, seconds) {
  const current = useRef(run);
  current.current = run;
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    timer.current ||= setTimeout(() => {
      timer.current = 0;
      current.current();
    }, seconds * 1000);
  };
}

/** A button for what came meanwhile; said aloud now and then. @param {{count: number, word?: string, onClick: () => void}} props */
export function Fresh({ count: fresh, word = `${count(fresh)} new`, onClick }) {
  const [said, setSaid] = useState("");
  const now = fresh ? word : "";
  const say = useSoon(() => setSaid(now), SPOKEN_SECONDS);
  useEffect(say, [now]);
  return html`
    ${now && html`<button class="chip" onClick=${onClick}>${now}</button>`}
    <span class="hidden" aria-live="polite">${said}</span>
  `;
}

/** With `onClick` a button that may be `pressed`; else a word in a frame. @param {{children: any, onClick?: (event: MouseEvent) => void, pressed?: boolean, kind?: string}} props */
export function Chip({ children, onClick, pressed, kind = "" }) {
  if (!onClick) return html`<span class="chip ${kind}">${children}</span>`;
  return html`<button class="chip ${kind}" aria-pressed=${pressed === undefined ? undefined : String(pressed)} onClick=${onClick}>${children}</button>`;
}

/** @param {{at: string | null | undefined}} props */
export const Time = ({ at }) => (at ? html`<time datetime=${at} title=${at}>${ago(at)}</time>` : html`<span class="muted">never</span>`);

/** A button that copies. @param {{text: string, label?: string, children?: any}} props */
export function Copy({ text, label = "Copy", children }) {
  const onClick = (/** @type {Event} */ event) => {
    event.stopPropagation();
    navigator.clipboard.writeText(text).then(() => toast("Copied"), () => toast("This browser does not let the page copy."));
  };
  return html`<button class="plain copy" title=${text.length < 80 ? text : label} aria-label=${label} onClick=${onClick}>${children}<${Icon} name="copy" /></button>`;
}

/** A number with its name, and what it is measured against. @param {{label: string, value: any, note?: any, href?: string}} props */
export function Figure({ label, value, note, href }) {
  const inner = html`<span class="label">${label}</span><span class="value">${value}</span><span class="note">${note}</span>`;
  return href ? html`<a class="figure" href=${href}>${inner}</a>` : html`<div class="figure">${inner}</div>`;
}

const toasts = shared(/** @type {{id: number, text: string, undo?: () => void}[]} */ ([]));
let nextToast = 1;

/** Say that something was done, for 8 s, with the way back where there is one. @param {string} text @param {{undo?: () => void}} [how] */
export const toast = (text, { undo } = {}) => toasts.set([...toasts.get().slice(-2), { id: nextToast++, text, undo }]);

/** @param {number} id */
const removeToast = (id) => toasts.set(toasts.get().filter((each) => each.id !== id));

export const Toasts = () => html`<div class="toasts" role="status">${toasts.use().map((each) => html`<${Toast} key=${each.id} ...${each} />`)}</div>`;

/** @param {{id: number, text: string, undo?: () => void}} props */
function Toast({ id, text, undo }) {
  const box = useRef(/** @type {any} */ (null));
  useEffect(() => {
    const timer = setInterval(() => box.current.matches(":hover, :focus-within") || removeToast(id), TOAST_MS);
    return () => clearInterval(timer);
  }, []);
  return html`<div class="toast" ref=${box}><span>${text}</span>${undo && html`<button onClick=${() => (removeToast(id), undo())}>Undo</button>`}</div>`;
}
