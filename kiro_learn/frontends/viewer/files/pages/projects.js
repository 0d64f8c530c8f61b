// @ts-check
// What projects there are, and what can be done with each.
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { address, ApiError, call, useRoute } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { go, href } from "../lib/nav.js";
import { Box, Chip, Dialog, Icon, Time, toast } from "../lib/parts.js";

export const title = "Projects";

const MOST_UNTYPED = 20;
const PAGE = 500;

/** @typedef {{name: string, namespace: string, project_id: string, folder: string | null, memory_count: number, last_event_at: string | null,
 *   waiting_count: number, sessions: number, paused: any}} Row */
/** @typedef {(act: string, row: Row) => void} Ask */

export default function Projects() {
  const stats = useRoute("/v1/stats");
  const pauses = useRoute("/api/pauses");
  const days = useRoute("/api/days", { days: 1 });
  const [asked, setAsked] = useState(/** @type {{act: string, row: Row} | null} */ (null));
  const reload = () => [stats, pauses, days].forEach((each) => each.reload());
  const done = (/** @type {string} */ said, /** @type {any} */ how) => {
    setAsked(null);
    reload();
    if (said) toast(said, how);
  };
  const ask = (/** @type {string} */ act, /** @type {Row} */ row) => {
    if (act === "pause") pause(row, done);
    else if (act === "resume") resume(row, done);
    else if (act === "export") exportMemories(row);
    else setAsked({ act, row });
  };
  const rows = (/** @type {any} */ data) => rowsOf(data, pauses.data, days.data);
  const Asking = asked && /** @type {Record<string, any>} */ ({ rename: Rename, merge: Merge, forget: Forget })[asked.act];
  return html`
    <${Box} title="Projects" route=${stats} empty=${(/** @type {any} */ data) => (data.projects.length ? null : html`No agent has reported yet. <code>kiro-learn doctor</code>`)}>
      ${(/** @type {any} */ data) => html`<${Table} rows=${rows(data)} ask=${ask} />`}
    <//>
    ${Asking && html`<${Asking} row=${asked.row} others=${rows(stats.data).filter((each) => each.namespace !== asked.row.namespace)} done=${done} onClose=${() => setAsked(null)} />`}
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

/** @param {{rows: Row[], ask: Ask}} props */
const Table = ({ rows, ask }) => html`
  <table class="folds projects-table">
    <thead><tr><th>Project</th><th class="number">Memories</th><th class="number">Sessions</th><th class="number">Waiting</th><th>Last used</th><th><span class="hidden">Actions</span></th></tr></thead>
    <tbody>
      ${rows.map(
        (row) => html`<tr key=${row.namespace}>
          <td>
            <a class="strong" href=${href("overview", { project: row.project_id.slice(0, 12) })}>${row.name}</a>
            ${row.paused && html` <${Chip} kind="warn">paused <${Time} at=${row.paused.since} /><//>`}
            <div class="muted small folder">${row.folder ?? "no folder"}</div>
          </td>
          <td class="number"><a href=${href("memories", { project: row.project_id.slice(0, 12) })}>${count(row.memory_count)}<span class="unit"> memories</span></a></td>
          <td class="number"><a href=${href("sessions", { project: row.project_id.slice(0, 12) })}>${count(row.sessions)}<span class="unit"> sessions</span></a></td>
          <td class="number">${count(row.waiting_count)}<span class="unit"> waiting</span></td>
          <td><${Time} at=${row.last_event_at} /></td>
          <td class="acts"><${Menu} row=${row} ask=${ask} /></td>
        </tr>`,
      )}
    </tbody>
  </table>
`;

/** @param {{row: Row, ask: Ask}} props */
function Menu({ row, ask }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef(/** @type {any} */ (null));
  const close = () => {
    if (box.current?.contains(document.activeElement)) box.current.querySelector("button").focus();
    setOpen(false);
  };
  useKeys(isOpen ? { Escape: close } : {});
  const onBlur = (/** @type {FocusEvent} */ event) => event.relatedTarget && !box.current.contains(event.relatedTarget) && setOpen(false);
  const act = (/** @type {string} */ name) => () => {
    close();
    ask(name, row);
  };
  return html`
    <div class="menu" ref=${box} onFocusOut=${onBlur}>
      <button class="plain more" aria-label="Actions of ${row.name}" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}><${Icon} name="more" /></button>
      ${isOpen &&
      html`<div class="sheet">
        <button class="plain" onClick=${act(row.paused ? "resume" : "pause")}>${row.paused ? "Resume" : "Pause"}</button>
        <button class="plain" onClick=${act("rename")}>Rename…</button>
        <button class="plain" onClick=${act("merge")}>Merge into…</button>
        <button class="plain" onClick=${act("export")}>Export memories</button>
        <button class="plain bad" onClick=${act("forget")}>Forget all…</button>
      </div>`}
    </div>
    ${isOpen && html`<div class="shade" onClick=${close}></div>`}
  `;
}

/** Say what the daemon refused. @param {Promise<any>} work @returns {Promise<any>} null then */
const said = (work) =>
  work.catch((error) => {
    if (!(error instanceof ApiError)) throw error;
    toast(`${error.message}. ${error.hint}`);
    return null;
  });

/** @typedef {(said: string, how?: {undo?: () => void}) => void} Done */

/** @param {Row} row @param {Done} done */
async function pause(row, done) {
  if (await said(call("POST", "/api/pauses", { project: row.namespace }))) done(`Paused ${row.name}: nothing is taken in, nothing told.`, { undo: () => resume(row, done) });
}

/** @param {Row} row @param {Done} done */
async function resume(row, done) {
  if (await said(call("DELETE", address("/api/pauses", { project: row.namespace })))) done(`${row.name} learns again.`);
}

/** Every memory as a line of JSON, in a file of the browser's, as `kiro-learn memories import` takes it. @param {Row} row */
async function exportMemories(row) {
  const lines = [];
  for (let offset = 0, more = true; more; offset += PAGE) {
    const page = await said(call("GET", address("/v1/memories", { namespace: row.namespace, limit: PAGE, offset })));
    if (!page) return;
    lines.push(...page.items.map((/** @type {any} */ each) => `${JSON.stringify(each)}\n`));
    more = offset + PAGE < page.total;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  link.download = `${row.name}-memories.ndjson`;
  link.click();
  URL.revokeObjectURL(link.href);
  toast(`${counted(lines.length, "memory", "memories")} in ${link.download}. Into another home: kiro-learn memories import`);
}

/** @typedef {{row: Row, others: Row[], done: Done, onClose: () => void}} Asked */

/** @param {Asked} props */
function Rename({ row, done, onClose }) {
  const [name, setName] = useState(row.name);
  const onSubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (await said(call("POST", "/api/project", { project: row.namespace, name }))) done(`${row.name} is called ${name} now.`);
  };
  return html`
    <${Dialog} title="Rename ${row.name}" onClose=${onClose} actions=${html`<button class="primary" form="rename" disabled=${!name.trim() || name === row.name}>Rename</button>`}>
      <form id="rename" onSubmit=${onSubmit}><label class="field">Name<input value=${name} maxlength="100" autocomplete="off" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label></form>
      <p class="muted">Its folder finds it as before.</p>
    <//>
  `;
}

/** @param {Asked} props */
function Merge({ row, others, done, onClose }) {
  const [into, setInto] = useState("");
  const [isBusy, setBusy] = useState(false);
  const merge = async () => {
    setBusy(true);
    const kept = await said(call("POST", "/api/project/merge", { source: row.namespace, into }));
    setBusy(false);
    if (kept) done(`All of ${row.name} is in ${kept.project} now.`);
  };
  return html`
    <${Dialog} title="Merge ${row.name} into another project" onClose=${onClose} actions=${html`<button class="danger" disabled=${!into || isBusy} onClick=${merge}>${isBusy ? "Merging…" : "Merge"}</button>`}>
      <p>${counted(row.memory_count, "memory", "memories")} and ${counted(row.sessions, "session")} move there, and so does what is reported for ${row.name} later. It cannot be undone.</p>
      <label class="field">Into<select value=${into} onChange=${(/** @type {any} */ event) => setInto(event.target.value)}>
        <option value="">choose a project</option>
        ${others.map((each) => html`<option value=${each.namespace}>${each.name}${each.folder ? ` · ${each.folder}` : ""}</option>`)}
      </select></label>
    <//>
  `;
}

/** @param {Asked} props */
function Forget({ row, done, onClose }) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  useEffect(() => void said(call("POST", "/api/forgetting/preview", { project: row.namespace, whole: true })).then((data) => (data ? setFound(data) : onClose())), []);
  const [typed, setTyped] = useState("");
  const [withCopies, setWithCopies] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const mustType = found?.memories > MOST_UNTYPED;
  const forget = async () => {
    setBusy(true);
    const gone = await said(call("POST", "/api/forgetting", { project: row.namespace, whole: true, delete_copies: withCopies }));
    setBusy(false);
    if (!gone) return;
    const count = gone.copies.length + gone.damaged_copies;
    const left = count && !withCopies ? ` ${counted(count, "backup")} could not be changed and may have it still: kiro-learn backup list` : "";
    done(`${row.name} is forgotten.${left}`);
    if (location.search.includes(row.project_id.slice(0, 12))) go(href("projects", { project: null }));
  };
  const isReady = found && !isBusy && (!mustType || typed === String(found.memories));
  return html`
    <${Dialog} title="Forget all of ${row.name}" onClose=${onClose} actions=${html`<button class="danger" disabled=${!isReady} onClick=${forget}>${isBusy ? "Forgetting…" : "Forget all"}</button>`}>
      ${!found && html`<p class="muted">Counting…</p>`}
      ${found &&
      html`
        <dl class="facts">
          <dt>Memories</dt><dd>${count(found.memories)}${found.replaced ? `, and ${count(found.replaced)} kept as history` : ""}</dd>
          <dt>Events</dt><dd>${count(found.events)} of ${counted(found.sessions, "session")}</dd>
          <dt>Graph</dt><dd>${counted(found.graph_items, "item")}</dd>
        </dl>
        <p>They go from the database, from the indexes and from the backups. This cannot be undone.</p>
        <label><input type="checkbox" checked=${withCopies} onChange=${(/** @type {any} */ event) => setWithCopies(event.target.checked)} />Delete backups that cannot be changed</label>
        ${mustType && html`<label class="field">Type ${found.memories} to go on<input inputmode="numeric" autocomplete="off" value=${typed} onInput=${(/** @type {any} */ event) => setTyped(event.target.value.trim())} /></label>`}
      `}
    <//>
  `;
}
