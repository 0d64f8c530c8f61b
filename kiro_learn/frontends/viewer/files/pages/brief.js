// What a session is told as it starts, as it would be with these settings. Nothing counts as told by it.
import { addStyle, html } from "../lib/html.js";
import { useRoute } from "../lib/api.js";
import { AGENTS, count, counted } from "../lib/format.js";
import { Choose } from "../lib/lists.js";
import { href } from "../lib/nav.js";
import { Box, Copy } from "../lib/parts.js";

addStyle("pages/brief.css");

const MOST_BYTES = 8000;
const STEP = 100;

/** @param {import("../lib/nav.js").PageProps} props */
export default function Page({ query, setQuery, project, projects }) {
  const settings = useRoute("/api/settings");
  const { bytes, profile, agent } = query;
  const brief = useRoute(project ? "/api/context" : null, { project: project?.namespace, bytes, profile, agent });
  const set = Object.fromEntries((settings.data?.settings ?? []).map((/** @type {any} */ each) => [each.key, each.value]));
  const most = Number(bytes ?? Math.min(set["recall.brief_bytes"] ?? 2500, set["recall.context_bytes"] ?? MOST_BYTES));
  if (!project) return html`<${Choose} projects=${projects} page="brief" />`;
  const isOther = Boolean(bytes || profile || agent);
  return html`
    <div class="columns brief-columns">
      <${Box} title="What a session in ${project.name} is told" route=${brief} actions=${brief.data?.context && html`<${Copy} text=${brief.data.context} label="Copy the brief">Copy<//>`}
        empty=${(/** @type {any} */ data) => (data.context ? null : most === 0 ? "Nothing: the brief may have 0 bytes." : "Nothing: no memory of the project is told before a question, and its files say nothing.")}>
        ${(/** @type {any} */ data) => html`<pre tabindex="0">${data.context}</pre>`}
      <//>
      <div class="stack">
        <section class="box" aria-labelledby="with-settings">
          <header><h2 id="with-settings">With other settings</h2>${isOther && html`<div class="actions"><button onClick=${() => setQuery({ bytes: null, profile: null, agent: null })}>As set</button></div>`}</header>
          <div class="content stack">
            <label class="field"><span>Most bytes <code class="muted">recall.brief_bytes</code></span>
              <input type="range" min="0" max=${Math.max(MOST_BYTES, most)} step=${STEP} value=${most} onChange=${(/** @type {any} */ event) => setQuery({ bytes: event.target.value })} />
              <output class="number">${count(most)}</output></label>
            <label><input type="checkbox" checked=${profile ? profile === "true" : set["recall.profile"] ?? true} onChange=${(/** @type {any} */ event) => setQuery({ profile: String(event.target.checked) })} />What the project's files say <code class="muted note-code">recall.profile</code></label>
            <label class="field"><span>Agent: what its own rule files say is left out</span>
              <select value=${agent ?? ""} onChange=${(/** @type {any} */ event) => setQuery({ agent: event.target.value || null })}>
                <option value="">any</option>${Object.entries(AGENTS).map(([name, word]) => html`<option value=${name}>${word}</option>`)}
              </select></label>
            <p class="muted small">The other settings of <code>[recall]</code> change what is told with a prompt, not the brief.</p>
          </div>
        </section>
        <${Box} title="Memories in it" route=${brief} empty=${(/** @type {any} */ data) => (data.context ? null : "No memory.")}>
          ${(/** @type {any} */ data) => html`<${InIt} data=${data} most=${most} />`}
        <//>
      </div>
    </div>
  `;
}

/** @param {{data: any, most: number}} props */
function InIt({ data, most }) {
  const used = new TextEncoder().encode(data.context).length;
  return html`
    <p>${count(used)} of ${count(most)} bytes · ${counted(data.tokens, "token")} · ${counted(data.memories.length, "memory", "memories")}</p>
    <meter min="0" max=${Math.max(most, 1)} value=${used} aria-label="Bytes used">${used}</meter>
    <ol class="brief-memories">${data.memories.map((/** @type {any} */ each) => html`<li><a href=${href("memories", { open: each.id })}>${each.title}</a> <span class="muted small">${each.type}</span></li>`)}</ol>
  `;
}
