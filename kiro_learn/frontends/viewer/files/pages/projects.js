// What projects there are, and what can be done with each.
import { addStyle, html, useId, useState } from "../lib/html.js";
import { address, call, useRoute } from "../lib/api.js";
import { Ask, attempt } from "../lib/asking.js";
import { count, counted } from "../lib/format.js";
import { Size } from "../lib/lists.js";
import { saveFile } from "../lib/memory.js";
import { go, href, short } from "../lib/nav.js";
import { Box, Chip, Icon, Time, toast } from "../lib/parts.js";
import { Forget } from "./forget.js";

addStyle("pages/projects.css");

const PAGE = 500;

/** @typedef {{name: string, namespace: string, project_id: string, folder: string | null, memory_count: number, last_event_at: string | null,
 *   waiting_count: number, size_bytes: number, sessions: number, paused: any}} Row */
/** @typedef {(act: string, row: Row) => unknown} Act */

/** @param {import("../lib/nav.js").PageProps} props */
export default function Projects({ onProjects }) {
  const [changes, setChanges] = useState(0);
  const stats = useRoute("/v1/stats", { sizes: true }, changes);
  const pauses = useRoute("/api/pauses", {}, changes);
  const days = useRoute("/api/days", { days: 1 }, changes);
  const [asked, setAsked] = useState(/** @type {{name: string, row: Row} | null} */ (null));
  const onClose = () => setAsked(null);
  const done = (/** @type {string} */ said, /** @type {{undo?: () => void}} */ how = {}) => {
    onClose();
    setChanges((old) => old + 1);
    onProjects();
    if (said) toast(said, how);
  };
  /** @type {Act} */
  const act = (name, row) => (name === "pause" ? pause(row, !row.paused, done) : name === "export" ? exportMemories(row) : setAsked({ name, row }));
  const gone = (/** @type {string} */ said) => {
    done(said);
    if (asked && location.search.includes(short(asked.row))) go(href("projects", { project: null }));
  };
  const rows = (/** @type {any} */ data) => rowsOf(data, pauses.data, days.data);
  return html`
    <${Box} title="Projects" route=${stats} empty=${(/** @type {any} */ data) => (data.projects.length ? null : html`No agent has reported yet. <code>kiro-learn doctor</code>`)}>
      ${(/** @type {any} */ data) => html`<${Table} rows=${rows(data)} act=${act} />`}
    <//>
    ${asked?.name === "rename" && html`<${Rename} row=${asked.row} ...${{ done, onClose }} />`}
    ${asked?.name === "merge" && html`<${Merge} row=${asked.row} others=${rows(stats.data).filter((each) => each.namespace !== asked.row.namespace)} ...${{ done: gone, onClose }} />`}
    ${asked?.name === "forget" && html`<${Forget} selection=${{ project: asked.row.namespace, whole: true }} name=${asked.row.name} onDone=${() => gone("")} onClose=${onClose} />`}
  `;
}

/** The last used first. @param {any} stats @param {any} pauses null: not known yet @param {any} days @returns {Row[]} */
const rowsOf = (stats, pauses, days) =>
  stats.projects
    .map((/** @type {any} */ each) => ({
      ...each,
      name: each.name ?? (each.display_name.split("/").pop() || each.display_name),
      sessions: days?.sessions[each.namespace] ?? 0,
      paused: pauses?.pauses.find((/** @type {any} */ pause) => pause.namespace === each.namespace && pause.session === null) ?? null,
    }))
    .sort((/** @type {Row} */ a, /** @type {Row} */ b) => (b.last_event_at ?? "").localeCompare(a.last_event_at ?? ""));

/** @param {{rows: Row[], act: Act}} props */
const Table = ({ rows, act }) => html`
  <table class="folds projects-table">
    <thead><tr><th>Project</th><th class="number">Memories</th><th class="number">Sessions</th><th class="number">Waiting</th><th class="number">Size</th><th>Last used</th><th><span class="hidden">Actions</span></th></tr></thead>
    <tbody>
      ${rows.map((row) => html`<tr key=${row.namespace}>
        <td>
          <a class="strong" href=${href("overview", { project: short(row) })}>${row.name}</a>
          ${row.paused && html` <${Chip} kind="warn">paused <${Time} at=${row.paused.since} /><//>`}
          <div class="muted small folder">${row.folder ?? "no folder"}</div>
        </td>
        <td class="number"><a href=${href("memories", { project: short(row) })}>${count(row.memory_count)}<span class="unit"> memories</span></a></td>
        <td class="number"><a href=${href("sessions", { project: short(row) })}>${count(row.sessions)}<span class="unit"> sessions</span></a></td>
        <td class="number">${count(row.waiting_count)}<span class="unit"> waiting</span></td>
        <td class="number"><${Size} bytes=${row.size_bytes} /></td>
        <td><${Time} at=${row.last_event_at} /></td>
        <td class="acts"><${Acts} ...${{ row, act }} /></td>
      </tr>`)}
    </tbody>
  </table>
`;

/** @param {{row: Row, act: Act}} props */
function Acts({ row, act }) {
  const id = useId();
  const choose = (/** @type {string} */ name) => (/** @type {any} */ { target }) => {
    target.closest("[popover]").hidePopover();
    act(name, row);
  };
  return html`
    <button aria-label="${row.paused ? "Resume" : "Pause"} ${row.name}" onClick=${() => act("pause", row)}>${row.paused ? "Resume" : "Pause"}</button>
    <button class="plain more" popovertarget=${id} aria-label="Actions of ${row.name}"><${Icon} name="more" /></button>
    <div class="sheet" popover id=${id}>
      <button class="plain" onClick=${choose("rename")}>Rename…</button>
      <button class="plain" onClick=${choose("merge")}>Merge into…</button>
      <button class="plain" onClick=${choose("export")}>Export memories</button>
      <button class="plain bad" onClick=${choose("forget")}>Forget all…</button>
    </div>
  `;
}

/** @typedef {(said: string, how?: {undo?: () => void}) => void} Done */

/** Pause a project, or let it go on. @param {Row} row @param {boolean} isPaused @param {Done} done */
async function pause(row, isPaused, done) {
  const { name, namespace: project } = row;
  if (!(await attempt(() => (isPaused ? call("POST", "/api/pauses", { project }) : call("DELETE", address("/api/pauses", { project })))))) return;
  if (isPaused) done(`Paused ${name}: nothing is taken in, nothing told.`, { undo: () => pause(row, false, done) });
  else done(`${name} learns again.`);
}

/** @param {Row} row */
async function exportMemories(row) {
  const memories = [];
  for (let offset = 0, more = true; more; offset += PAGE) {
    const page = await attempt(() => call("GET", address("/v1/memories", { namespace: row.namespace, limit: PAGE, offset })));
    if (!page) return;
    memories.push(...page.items);
    more = offset + PAGE < page.total;
  }
  saveFile(`${row.name}-memories.ndjson`, memories);
}

/** @param {{row: Row, done: Done, onClose: () => void}} props */
function Rename({ row, done, onClose }) {
  const [name, setName] = useState(row.name);
  const rename = async () => {
    await call("POST", "/api/project", { project: row.namespace, name: name.trim() });
    done(`${row.name} is called ${name.trim()} now.`);
  };
  return html`
    <${Ask} title="Rename ${row.name}" word="Rename" kind="primary" isReady=${!["", row.name].includes(name.trim())} act=${rename} onClose=${onClose}>
      <label class="field">Name<input value=${name} maxlength="100" autocomplete="off" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
      <p class="muted">Its folder still leads to it.</p>
    <//>
  `;
}

/** @param {{row: Row, others: Row[], done: Done, onClose: () => void}} props */
function Merge({ row, others, done, onClose }) {
  const [into, setInto] = useState("");
  const merge = async () => {
    const kept = await call("POST", "/api/project/merge", { source: row.namespace, into });
    done(`All of ${row.name} is in ${kept.project} now.`);
  };
  return html`
    <${Ask} title="Merge ${row.name} into another project" word="Merge" busy="Merging…" isReady=${Boolean(into)} act=${merge} onClose=${onClose}>
      <p>${counted(row.memory_count, "memory", "memories")} and ${counted(row.sessions, "session")} move there, and so do later reports for ${row.name}. It cannot be undone.</p>
      <label class="field">Into<select value=${into} onChange=${(/** @type {any} */ event) => setInto(event.target.value)}>
        <option value="">choose a project</option>
        ${others.map((each) => html`<option value=${each.namespace}>${each.name}${each.folder ? ` · ${each.folder}` : ""}</option>`)}
      </select></label>
    <//>
  `;
}
