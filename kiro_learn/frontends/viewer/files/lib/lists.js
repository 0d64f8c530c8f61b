// Lists of any length, what is open beside them, and what else only pages with lists need.
import { addStyle, html, useEffect, useId, useLayoutEffect, useRef, useState } from "./html.js";
import { count, shortId } from "./format.js";
import { useKeys } from "./keys.js";
import { href, short } from "./nav.js";
import { Copy, Empty, Icon } from "./parts.js";

addStyle("lib/lists.css");

/** In px, as `.row` has it. */
const ROW_HEIGHT = 56;
const FEW = 8;
const MORE = 100;

/** @param {any} item */
const usualId = (item) => item.id ?? item.record_id ?? item.retrieval_id;

/**
 * A list of any length, of which only what is in sight is drawn; it fills and scrolls in the height that it is given.
 * Up, down, j, k, Home, End move; Enter opens; `selected` is the id of the open row, to which the focus returns.
 * @param {{label: string, rows: any[], row: (item: any, index: number) => any, selected?: string | null, onOpen: (item: any) => void,
 *   more?: (() => void) | null, id?: (item: any) => string}} props
 */
export function List({ label, rows, row, selected, onOpen, more, id = usualId }) {
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
    const least = (next + 1) * ROW_HEIGHT - clientHeight;
    if (next * ROW_HEIGHT < scrollTop) box.current.scrollTop = next * ROW_HEIGHT;
    else if (least > scrollTop) box.current.scrollTop = least;
    measure();
    setActive(next);
    const drawn = () => box.current?.querySelector(`[data-index="${next}"]`);
    const focus = () => drawn()?.focus({ preventScroll: true });
    if (drawn()) focus(); // at once: the next key may come before the next frame
    else requestAnimationFrame(focus);
  };
  useEffect(() => {
    // The panel was closed: its row has the focus again.
    const before = wasSelected.current;
    wasSelected.current = selected;
    if (before && !selected && !document.querySelector("dialog[open]")) {
      const index = rows.findIndex((item) => id(item) === before);
      focusRow(index < 0 ? active : index);
    }
  }, [selected]);
  const step = (/** @type {number} */ by) => focusRow(box.current.contains(document.activeElement) ? active + by : active);
  const [down, up] = [() => step(1), () => step(-1)];
  useKeys(last < 0 ? {} : { j: down, k: up, ArrowDown: down, ArrowUp: up, Home: () => focusRow(0), End: () => focusRow(last) });
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - 5);
  const end = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + 5);
  useEffect(() => {
    if (more && end >= rows.length - 5) more();
  }, [end, rows.length, Boolean(more)]);
  const draw = (/** @type {any} */ item, /** @type {number} */ place) => {
    const [key, index] = [id(item), first + place];
    const ref = (/** @type {any} */ element) => element && (element.style.transform = `translateY(${index * ROW_HEIGHT}px)`);
    const onKeyDown = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && event.target === event.currentTarget && (event.preventDefault(), onOpen(item));
    return html`
      <div class="row" role="row" aria-rowindex=${index + 1} aria-selected=${String(selected === key)} data-index=${index} tabindex=${index === Math.min(active, last) ? 0 : -1}
        ...${{ key, ref, onKeyDown }} onFocus=${() => setActive(index)} onClick=${() => onOpen(item)}><div role="gridcell" class="cell">${row(item, index)}</div></div>
    `;
  };
  return html`
    <div class="list" role="grid" aria-label=${label} aria-rowcount=${rows.length} ref=${box} onScroll=${measure}>
      <div class="rows" role="rowgroup" ref=${(/** @type {any} */ element) => element && (element.style.height = `${rows.length * ROW_HEIGHT}px`)}>${rows.slice(first, end).map(draw)}</div>
    </div>
  `;
}

/** What is open, at the right; Esc closes. @param {{title: any, onClose: () => void, children: any, actions?: any}} props */
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

/** The first few of many, and a button for more. @param {{items: any[], few?: number, children: (shown: any[]) => any}} props */
export function Few({ items, few = FEW, children }) {
  const [most, setMost] = useState(few);
  return html`
    ${children(items.slice(0, most))}
    ${items.length > most && html`<button class="plain" onClick=${() => setMost(most + MORE)}>${count(items.length - most)} more</button>`}
  `;
}

/** For a page that is of one project. @param {{projects: import("./nav.js").Project[], page: string}} props */
export const Choose = ({ projects, page }) => html`
  <section class="box" aria-label="Projects"><header><h2>Of which project?</h2></header>
    ${projects.length
      ? html`<div class="content chips">${projects.map((each) => html`<a class="chip" href=${href(page, { project: short(each) })}>${each.name}</a>`)}</div>`
      : html`<${Empty}>No agent has reported yet. <code>kiro-learn doctor</code><//>`}
  </section>
`;

/** `9 kB`, of 1000 bytes. @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  const power = bytes < 999_500 ? 1 : bytes < 999_500_000 ? 2 : 3;
  const value = bytes / 1000 ** power;
  return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} ${["", "kB", "MB", "GB"][power]}`;
}

/** @param {{bytes: number}} props */
export const Size = ({ bytes }) => html`<span class="number" title="${bytes} bytes">${size(bytes)}</span>`;

/** @param {{id: string}} props */
export const Id = ({ id }) => html`<${Copy} text=${id} label="Copy ${shortId(id)}"><code>${shortId(id)}</code><//>`;
