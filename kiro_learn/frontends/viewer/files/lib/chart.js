// Charts over a row of names (days, bounds): drawn by uPlot once the page stands, with a sentence, a legend and a table that say
// the same. Zero is always in sight, no bar is cut at an edge, and every series differs by its shape or dash too.
import { addStyle, html, useEffect, useId, useMemo, useRef, useState } from "./html.js";
import { onTheme, token } from "./theme.js";

addStyle("vendor/uplot.css");

/**
 * @typedef {{label: string, color: string, values: (number | null)[], shape?: "bars" | "line"}} Series `color`: a token without dashes
 * @typedef {{at: number, label: string, color?: string}} Mark a line upwards at a place of the row; places count from 0
 * @typedef {{sentence: string, corner: string, names: string[], series: Series[], marks?: Mark[],
 *   onPick?: (index: number) => void}} ChartProps `corner`: what the names are, above them in the table
 */

const HEIGHT = 180;
const LOW_HEIGHT = 140;
const FEW_NAMES = 12;
const MANY_NAMES = 31;
const NARROW = matchMedia("(max-width: 640px)");

/** @param {ChartProps} props */
export function Chart({ sentence, corner, names, series, marks = [], onPick }) {
  const [isTable, setTable] = useState(false);
  const [hovered, setHovered] = useState(/** @type {number | null} */ (null));
  const shown = hovered ?? names.length - 1;
  const id = useId();
  return html`
    <figure class="chart">
      <figcaption id=${id}>${sentence}</figcaption>
      ${isTable
        ? html`<${Table} ...${{ corner, names, series, onPick }} />`
        : html`<${Canvas} label=${sentence} ...${{ names, series, marks, onPick, onHover: setHovered }} />`}
      <div class="legend">
        ${series.map((each) => html`<span class="key ${each.shape ? "dashed" : ""} ${each.color}"><i></i>${each.label}${!isTable && onPick && html` <b>${each.values[shown] ?? 0}</b>`}</span>`)}
        ${!isTable && onPick && html`<span class="muted">${names[shown]}</span>`}
        <button class="plain" aria-describedby=${id} onClick=${() => setTable(!isTable)}>${isTable ? "Show as chart" : "Show as table"}</button>
      </div>
    </figure>
  `;
}

/** @param {{corner: string, names: string[], series: Series[], onPick?: (index: number) => void}} props */
const Table = ({ corner, names, series, onPick }) => html`
  <div class="table" tabindex="0" role="group" aria-label=${corner}>
    <table>
      <thead><tr><th scope="col">${corner}</th>${series.map((each) => html`<th scope="col" class="number">${each.label}</th>`)}</tr></thead>
      <tbody>
        ${names.map((name, index) => html`<tr>
          <th scope="row">${onPick ? html`<button class="plain" onClick=${() => onPick(index)}>${name}</button>` : name}</th>
          ${series.map((each) => html`<td class="number">${each.values[index] ?? ""}</td>`)}
        </tr>`)}
      </tbody>
    </table>
  </div>
`;

/** @param {{label: string, names: string[], series: Series[], marks: Mark[], onPick?: (index: number) => void, onHover: (index: number | null) => void}} props */
function Canvas({ label, names, series, marks, onPick, onHover }) {
  const box = useRef(/** @type {any} */ (null));
  const key = useMemo(() => JSON.stringify([names, series, marks]), [names, series, marks]);
  useEffect(() => {
    const element = box.current;
    let plot = /** @type {any} */ (null);
    let uPlot = /** @type {any} */ (null);
    let isGone = false;
    const draw = () => {
      plot?.destroy();
      plot = new uPlot(options({ uPlot, box: element, names, series, marks, onHover }), [names.map((_, index) => index), ...series.map((each) => each.values)], element);
    };
    const resize = new ResizeObserver(() => plot?.setSize(sizeOf(element)));
    let deafen = () => {};
    import("../vendor/uplot.js").then((loaded) => {
      if (isGone) return;
      uPlot = loaded.default;
      draw();
      resize.observe(element);
      deafen = onTheme(draw);
    });
    return () => {
      isGone = true;
      resize.disconnect();
      deafen();
      plot?.destroy();
    };
  }, [key]);
  const onClick = (/** @type {any} */ { target }) => target.closest(".u-over") && box.current.dataset.index && onPick?.(Number(box.current.dataset.index));
  return html`<div class="canvas ${onPick ? "picks" : ""}" role="img" aria-label=${label} ref=${box} onClick=${onClick}></div>`;
}

/** @param {HTMLElement} box */
const sizeOf = (box) => ({ width: Math.max(box.clientWidth, 120), height: NARROW.matches ? LOW_HEIGHT : HEIGHT });

/** @param {string[]} names @param {number} width @returns {number[]} the places that have room for their name, the last one first */
function places(names, width) {
  const step = names.length <= FEW_NAMES ? 1 : Math.ceil(names.length / Math.max(2, Math.floor(width / 64)));
  return names.map((_, index) => index).filter((index) => (names.length - 1 - index) % step === 0);
}

/** @param {{uPlot: any, box: HTMLElement, names: string[], series: Series[], marks: Mark[], onHover: (index: number | null) => void}} what */
function options({ uPlot, box, names, series, marks, onHover }) {
  const font = `12px ${getComputedStyle(box).fontFamily}`;
  const axis = { stroke: token("muted"), font, ticks: { show: false } };
  const most = Math.max(1, ...series.flatMap((each) => each.values.map((value) => value ?? 0)));
  return {
    ...sizeOf(box),
    legend: { show: false },
    padding: [marks.length ? 20 : 8, names.length > MANY_NAMES ? 20 : 8, 0, 0],
    cursor: { x: false, y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: false, range: () => [-0.75, names.length - 0.25] }, y: { range: () => [0, most * 1.08] } },
    axes: [
      { ...axis, size: 24, gap: 4, grid: { show: false }, splits: (/** @type {any} */ plot) => places(names, plot.width), values: (/** @type {any} */ _plot, /** @type {number[]} */ all) => all.map((index) => names[index] ?? "") },
      { ...axis, size: 16 + 7 * String(most).length, gap: 4, grid: { stroke: token("line"), width: 1 }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000], space: 36 },
    ],
    series: [
      {},
      ...series.map(({ shape, color }) =>
        shape === "line"
          ? { stroke: token(color), width: 2, dash: [6, 4], points: { show: names.length <= MANY_NAMES, size: 6, fill: token("card"), stroke: token(color), width: 2 } }
          : { stroke: token(color), fill: token(color), width: 0, paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.1 }), points: { show: false } },
      ),
    ],
    hooks: {
      setCursor: [
        (/** @type {any} */ plot) => {
          const index = plot.cursor.left >= 0 ? plot.cursor.idx : null;
          box.dataset.index = index ?? "";
          onHover(index);
        },
      ],
      draw: [(/** @type {any} */ plot) => marks.forEach((mark) => drawMark(plot, mark, font))],
    },
  };
}

/** @param {any} plot @param {Mark} mark @param {string} font */
function drawMark(plot, { at, label, color = "muted" }, font) {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(at, "x", true));
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = token(color);
  ctx.lineWidth = (color === "bad" ? 2 : 1) * ratio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top - 4 * ratio);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = font.replace("12px", `${12 * ratio}px`);
  ctx.textAlign = color === "bad" ? "left" : "right"; // away from one another
  ctx.fillText(label, x, bbox.top - 7 * ratio);
  ctx.restore();
}
