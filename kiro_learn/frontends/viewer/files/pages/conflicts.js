// What contradicts each other, each with the buttons that settle it.
import { addStyle, html, useState } from "../lib/html.js";
import { call } from "../lib/api.js";
import { Ask, attempt } from "../lib/asking.js";
import { EventLink, routeOf, SAYS_SO } from "../lib/memory.js";
import { href } from "../lib/nav.js";
import { Box, Time, toast } from "../lib/parts.js";

addStyle("pages/conflicts.css");

/** @typedef {{project: string, keep: any, over: any}} Choice which side is kept, and which is not */

/** @param {{route: import("../lib/api.js").RouteState, nameOf?: (namespace: string) => string, onChanged?: () => void}} props `route`: of the conflicts */
export function Conflicts({ route, nameOf, onChanged }) {
  const [asked, setAsked] = useState(/** @type {Choice | null} */ (null));
  const done = () => {
    setAsked(null);
    route.reload();
    onChanged?.();
  };
  const settle = async (/** @type {Choice} */ choice) => {
    const { kept } = await call("POST", "/api/conflicts", { project: choice.project, keep: choice.keep.id, over: choice.over.id });
    done();
    const undo = () => attempt(() => call("POST", routeOf(kept, "/undo"), {})).then(done);
    toast("Settled", canUndo(choice) ? { undo } : {});
  };
  const keep = (/** @type {Choice} */ choice) => (canUndo(choice) ? attempt(() => settle(choice)) : setAsked(choice));
  return html`
    <${Box} title="Conflicts to settle" route=${route} empty="Nothing contradicts each other.">
      ${(/** @type {any} */ { items }) => html`
        <ul class="conflicts">
          ${items.map((/** @type {{project: string, sides: any[]}} */ { project, sides }) => html`
            <li>
              ${sides.map((side, place) => html`<${Side} ...${{ side, other: sides[1 - place] }} name=${nameOf?.(project)} onKeep=${() => keep({ project, keep: side, over: sides[1 - place] })} />`)}
            </li>
          `)}
        </ul>
      `}
    <//>
    ${asked && html`
      <${Ask} title="Keep this, and not the other?" word="Keep" kind="primary" act=${() => settle(asked)} onClose=${() => setAsked(null)}>
        <p><span class="muted">Keeps</span> ${asked.keep.text}</p>
        <p><span class="muted">Ends</span> ${asked.over.text}</p>
        <p class="muted">${!isMemory(asked.over) && asked.over.holds ? "It ends now, and stays in the history." : "It is forgotten. This cannot be undone."}</p>
      <//>
    `}
  `;
}

/** @param {{id: string}} side */
const isMemory = (side) => side.id.startsWith("mr_");
/** A memory that another one replaces comes back by an undo. @param {Choice} choice */
const canUndo = ({ keep, over }) => isMemory(keep) && isMemory(over);

/** @param {{side: any, other: any, name?: string, onKeep: () => void}} props */
const Side = ({ side, other, name, onKeep }) => html`
  <div class="side">
    <p class="strong">${isMemory(side) ? html`<a href=${href("memories", { open: side.id })}>${side.text}</a>` : side.text}</p>
    <p class="note muted">
      ${name && html`${name} · `}${SAYS_SO[side.source]}${side.at && html` · <${Time} at=${side.at} />`}${!side.holds && " · not used while the other holds"}
      ${side.event_id && html` · <${EventLink} id=${side.event_id} />`}
      ${side.source === "file" && html` · <code>${side.id}</code>`}
    </p>
    ${other.source === "file" ? html`<p class="note muted">To keep this, change the line in the file.</p>` : html`<button onClick=${onKeep}>Keep this</button>`}
  </div>
`;
