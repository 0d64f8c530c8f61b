// @ts-check
// What pages are made of.
import { html, useEffect, useErrorBoundary, useId, useLayoutEffect, useRef, useState } from "./html.js";
import { ago, shortId, size } from "./format.js";
import { useKeys } from "./keys.js";

/** @typedef {any} Node what a template or a child is */
/** @typedef {import("./api.js").RouteState} RouteState */

const SHOWS_BLOCKS_MS = 150;
const STILL_LOADING_MS = 5000;
const TOAST_MS = 8000;

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

/** @param {{title: string, route: RouteState, empty?: Node, children: (data: any) => Node, actions?: Node}} props */
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
 * @param {{title: string, route: RouteState, empty?: Node, children: (data: any) => Node}} props
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

/** @param {{what: string, message: string, hint: string, retry: () => void}} props */
const Problem = ({ what, message, hint, retry }) => html`
  <div class="problem" role="alert">
    <p>Could not read ${what.toLowerCase()}: ${message}</p>
    ${hint && html`<p><code>${hint}</code></p>`}
    <button onClick=${retry}>Retry</button>
  </div>
`;

/** @param {{reload: () => void}} props */
function Loading({ reload }) {
  const stage = useStages([SHOWS_BLOCKS_MS, STILL_LOADING_MS]);
  if (stage === 0) return html`<div class="blocks quiet" aria-busy="true"></div>`;
  return html`
    <div class="blocks" aria-busy="true">
      <i></i><i></i><i></i>
      ${stage === 2 && html`<p class="muted">Still loading · 5 s <button onClick=${reload}>Retry</button></p>`}
    </div>
  `;
}

/** How many of these times, in ms, have passed. @param {number[]} times */
function useStages(times) {
  const [stage, setStage] = useState(0);
  useEffect(() => {
    const timers = times.map((time, index) => setTimeout(setStage, time, index + 1));
    return () => timers.forEach(clearTimeout);
  }, []);
  return stage;
}

/** @param {{children: Node}} props */
export const Empty = ({ children }) => html`<div class="empty">${children}</div>`;

/** @param {any} item @param {number} index */
const usualId = (item, index) => item.id ?? item.record_id ?? item.session_id ?? item.event_id ?? String(index);

/**
 * A list of any length, of which only what is in sight is drawn; it fills and scrolls in the height that it is given.
 * Up, down, j, k, Home, End move; Enter opens; `selected` is the id of the open row, to which the focus returns.
 * @param {{label?: string, rows: any[], rowHeight: number, row: (item: any, index: number) => Node, selected?: string | null,
 *   onOpen?: (item: any, index: number) => void, onFocusRow?: (item: any, index: number) => void, more?: (() => void) | null,
 *   id?: (item: any, index: number) => string}} props
 */
export function List({ label, rows, rowHeight, row, selected, onOpen, onFocusRow, more, id = usualId }) {
  const box = useRef(/** @type {any} */ (null));
  const [view, setView] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState(0);
  const wasSelected = useRef(selected);
  const measure = () => {
    const { scrollTop, clientHeight } = box.current;
    setView({ top: scrollTop, height: clientHeight });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const last = rows.length - 1;
  const focusRow = (/** @type {number} */ index) => {
    const next = Math.max(0, Math.min(last, index));
    const { scrollTop, clientHeight } = box.current;
    const least = (next + 1) * rowHeight - clientHeight;
    if (next * rowHeight < scrollTop) box.current.scrollTop = next * rowHeight;
    else if (least > scrollTop) box.current.scrollTop = least;
    measure();
    setActive(next);
    onFocusRow?.(rows[next], next);
    requestAnimationFrame(() => box.current?.querySelector(`[data-index="${next}"]`)?.focus({ preventScroll: true }));
  };
  useEffect(() => {
    // The panel was closed: its row has the focus again.
    const before = wasSelected.current;
    wasSelected.current = selected;
    if (before && !selected && !document.querySelector("dialog[open]")) {
      const index = rows.findIndex((item, place) => id(item, place) === before);
      focusRow(index < 0 ? active : index);
    }
  }, [selected]);
  const step = (/** @type {number} */ by) => focusRow(box.current.contains(document.activeElement) ? active + by : active);
  useKeys(
    last < 0
      ? {}
      : { j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), Home: () => focusRow(0), End: () => focusRow(last) },
  );
  const first = Math.max(0, Math.floor(view.top / rowHeight) - 5);
  const end = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + 5);
  useEffect(() => {
    if (more && end >= rows.length - 5) more();
  }, [end, rows.length, Boolean(more)]);
  const drawn = [];
  for (let index = first; index < end; index += 1) {
    const item = rows[index];
    const key = id(item, index);
    drawn.push(html`
      <div
        key=${key}
        class="row"
        role="row"
        aria-rowindex=${index + 1}
        aria-selected=${selected === key ? "true" : "false"}
        data-index=${index}
        tabindex=${index === Math.min(active, last) ? 0 : -1}
        ref=${(/** @type {any} */ element) => element && (element.style.transform = `translateY(${index * rowHeight}px)`, element.style.height = `${rowHeight}px`)}
        onFocus=${() => setActive(index)}
        onClick=${() => onOpen?.(item, index)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.key !== "Enter" || event.target !== event.currentTarget) return;
          event.preventDefault();
          onOpen?.(item, index);
        }}
      ><div role="gridcell" class="cell">${row(item, index)}</div></div>
    `);
  }
  return html`
    <div class="list" role="grid" aria-label=${label ?? "Results"} aria-rowcount=${rows.length} ref=${box} onScroll=${measure}>
      <div class="rows" role="rowgroup" ref=${(/** @type {any} */ element) => element && (element.style.height = `${rows.length * rowHeight}px`)}>${drawn}</div>
    </div>
  `;
}

/** What is open, at the right; Esc closes. @param {{title: Node, onClose: () => void, children: Node, actions?: Node}} props */
export function Panel({ title, onClose, children, actions }) {
  const id = useId();
  const heading = useRef(/** @type {any} */ (null));
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  useKeys({ Escape: onClose });
  return html`
    <aside class="panel" aria-labelledby=${id}>
      <header>
        <button class="plain back" onClick=${onClose}><${Icon} name="back" /> Back</button>
        <h2 id=${id} tabindex="-1" ref=${heading}>${title}</h2>
        <button class="plain close" aria-label="Close" title="Close (Esc)" onClick=${onClose}><${Icon} name="close" /></button>
      </header>
      <div class="content" tabindex="0" role="group" aria-labelledby=${id}>${children}</div>
      ${actions && html`<footer>${actions}</footer>`}
    </aside>
  `;
}

/** Asks before something is done; the focus is on Cancel. @param {{title: string, onClose: () => void, children: Node, actions?: Node, cancel?: string}} props */
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
  const onCancel = (/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  };
  return html`
    <dialog ref=${dialog} aria-labelledby=${id} onCancel=${onCancel}>
      <h2 id=${id}>${title}</h2>
      <div class="content">${children}</div>
      <footer><button ref=${button} onClick=${onClose}>${cancel}</button>${actions}</footer>
    </dialog>
  `;
}

/** With `onClick` a button that may be `pressed`; else a word in a frame. @param {{children: Node, onClick?: (event: MouseEvent) => void, pressed?: boolean, kind?: string}} props */
export function Chip({ children, onClick, pressed, kind = "" }) {
  if (!onClick) return html`<span class="chip ${kind}">${children}</span>`;
  return html`<button class="chip ${kind}" aria-pressed=${pressed === undefined ? undefined : String(pressed)} onClick=${onClick}>${children}</button>`;
}

/** @param {{at: string | null | undefined}} props */
export const Time = ({ at }) => (at ? html`<time datetime=${at} title=${at}>${ago(at)}</time>` : html`<span class="muted">never</span>`);

/** @param {{bytes: number}} props */
export const Size = ({ bytes }) => html`<span class="number" title="${bytes} bytes">${size(bytes)}</span>`;

/** @param {{id: string}} props */
export const Id = ({ id }) => html`<${Copy} text=${id} label="Copy ${shortId(id)}"><code>${shortId(id)}</code><//>`;

/** A button that copies. @param {{text: string, label?: string, children?: Node}} props */
export function Copy({ text, label = "Copy", children }) {
  const onClick = (/** @type {Event} */ event) => {
    event.stopPropagation();
    navigator.clipboard.writeText(text).then(() => toast("Copied"), () => toast("This browser does not let the page copy."));
  };
  return html`<button class="plain copy" title=${text.length < 80 ? text : label} aria-label=${label} onClick=${onClick}>${children}<${Icon} name="copy" /></button>`;
}

/** A number with its name, and what it is measured against. @param {{label: string, value: Node, note?: Node, href?: string}} props */
export function Figure({ label, value, note, href }) {
  const inner = html`<span class="label">${label}</span><span class="value">${value}</span><span class="note">${note}</span>`;
  return href ? html`<a class="figure" href=${href}>${inner}</a>` : html`<div class="figure">${inner}</div>`;
}

/** @type {{id: number, text: string, undo?: () => void}[]} */
let toasts = [];
let drawToasts = () => {};
let nextToast = 1;

/** Say that something was done, for 8 s, with the way back where there is one. @param {string} text @param {{undo?: () => void}} [how] */
export function toast(text, { undo } = {}) {
  toasts = [...toasts.slice(-2), { id: nextToast++, text, undo }];
  drawToasts();
}

/** @param {number} id */
function removeToast(id) {
  toasts = toasts.filter((each) => each.id !== id);
  drawToasts();
}

export function Toasts() {
  const [, draw] = useState(0);
  useEffect(() => void (drawToasts = () => draw((old) => old + 1)), []);
  return html`<div class="toasts" role="status">${toasts.map((each) => html`<${Toast} key=${each.id} ...${each} />`)}</div>`;
}

/** @param {{id: number, text: string, undo?: () => void}} props */
function Toast({ id, text, undo }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(removeToast, TOAST_MS, id);
    return () => clearTimeout(timer);
  }, [isHeld]);
  const hold = { onMouseEnter: () => setHeld(true), onMouseLeave: () => setHeld(false), onFocusIn: () => setHeld(true), onFocusOut: () => setHeld(false) };
  const onUndo = () => {
    removeToast(id);
    undo?.();
  };
  return html`<div class="toast" ...${hold}><span>${text}</span>${undo && html`<button onClick=${onUndo}>Undo</button>`}</div>`;
}
