// What agents were told for their prompts: what was found, why each memory was told or not, and where the time went.
import { addStyle, html, useState } from "../lib/html.js";
import { call, useRoute } from "../lib/api.js";
import { attempt } from "../lib/asking.js";
import { AGENTS, agentName, count, counted, milliseconds, OCCASIONS } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { Few, Id, List, Panel, Size, size } from "../lib/lists.js";
import { useLive } from "../lib/live.js";
import { href } from "../lib/nav.js";
import { Box, Chip, Copy, Fresh, State, Time, toast } from "../lib/parts.js";

addStyle("pages/retrievals.css");

const ROUTE = "/v1/retrievals";
const MOST = 200;
const LEFT_OUT_SHOWN = 3;

const OUTCOMES = ["told", "silent", "partial"];

/** @typedef {Record<string, any>} Retrieval */
/** @typedef {Record<string, any>} Found */

/** Why a memory was told or not. @type {Record<string, string>} */
const WHY = {
  told: "told",
  named: "only named below the text: no room for more",
  told_before: "its session was told it before",
  repeat: "says the same as another one",
  room: "no room was left",
  late: "the time was used up",
  floor: "not close enough",
  cut: "far behind the best",
  behind: "others came first",
  gone: "could not be read then",
};

/** What followed once it was told. @type {Record<string, string>} */
const BECAME = {
  used: "was used",
  ignored: "no sign that it was used",
  objected: "you objected",
  helped: "you said: helped",
  wrong: "you said: wrong",
};

/** Name, colour, and the stages that it stands for. @type {[string, string, string[]][]} */
const STAGES = [
  ["words", "c1", ["words"]],
  ["meaning", "c2", ["embed", "vectors"]],
  ["order", "c3", ["features", "fusion"]],
  ["rest", "c5", []],
];

/** What the daemon does in a stage. @type {Record<string, string>} */
const DOES = {
  turn: "waiting", words: "looking up", embed: "reading the prompt", vectors: "comparing", features: "looking closer",
  fusion: "ordering", records: "reading", passages: "passages", files: "files", render: "writing", profile: "the project",
  names: "names", branch: "the branch", history: "what was before",
};

/** @param {Retrieval} item */
const askerOf = ({ agent }) => (agent ? agentName(agent) : "by hand");
/** @param {Retrieval} item */
const toldCount = (item) => (item.records ?? item.found).filter((/** @type {Found} */ each) => each.shown).length;

/** `comparing: late` of `vectors: late`. @param {string} problem */
const plain = (problem) => problem.replace(/^\w+/, (stage) => DOES[stage] ?? stage);

/** What it came to, in a few words. @param {Retrieval} item */
function outcomeOf(item) {
  const told = toldCount(item);
  if (told) return counted(told, "memory", "memories");
  if (item.context_bytes) return "a line on the project";
  return item.silent_because ?? "nothing";
}

/** @param {import("../lib/nav.js").PageProps} props */
export default function Page({ query, setQuery, project }) {
  const { outcome, agent, since, open } = query;
  const namespace = project?.namespace;
  const route = useRoute(ROUTE, { namespace, outcome, agent, since, limit: MOST, prompts: true });
  const [newCount, setNewCount] = useState(0);
  const refresh = () => (setNewCount(0), route.reload());
  const fits = (/** @type {any} */ event) => [[namespace, event.namespace], [outcome, event.outcome], [agent, event.agent]].every(([wanted, is]) => !wanted || wanted === is);
  useLive("retrieval", (event) => {
    if (event.kind === "gap" || (fits(event) && route.data?.total === 0)) refresh();
    else if (fits(event)) setNewCount((/** @type {number} */ old) => old + 1);
  });
  const isFiltered = Boolean(outcome || agent || since);
  const times = route.data?.latency_ms;
  const actions = html`
    <${Fresh} count=${newCount} onClick=${refresh} />
    ${times && times.p50 !== null && html`<span class="muted number latency">p50 ${Math.round(times.p50)} · p95 ${Math.round(times.p95)} · p99 ${Math.round(times.p99)} of ${times.budget} ms</span>`}
  `;
  return html`
    <div class="filters" role="group" aria-label="Filters">
      ${OUTCOMES.map((each) => html`<${Chip} pressed=${outcome === each} onClick=${() => setQuery({ outcome: outcome === each ? null : each, open: null })}>${each}<//>`)}
      <select aria-label="Agent" value=${agent ?? ""} onChange=${(/** @type {any} */ event) => setQuery({ agent: event.target.value || null, open: null })}>
        <option value="">All agents</option>
        ${Object.entries({ ...AGENTS, ...(agent ? { [agent]: agentName(agent) } : {}) }).map(([each, word]) => html`<option value=${each}>${word}</option>`)}
      </select>
      <label class="since">Since <input type="date" value=${since ?? ""} onChange=${(/** @type {any} */ event) => setQuery({ since: event.target.value || null, open: null })} /></label>
      ${isFiltered && html`<button class="plain" onClick=${() => setQuery({ outcome: null, agent: null, since: null, open: null })}>Clear filters</button>`}
    </div>
    <div class="split">
      <${Box} title="What was told" route=${route} actions=${actions} empty=${isFiltered ? "No retrieval fits these filters." : "No prompt asked yet."}>
        ${(/** @type {any} */ data) => html`<${List} label="Retrievals" rows=${data.items} row=${drawRow} selected=${open} onOpen=${(/** @type {Retrieval} */ item) => setQuery({ open: item.retrieval_id })} />`}
      <//>
      ${open && html`<${Detail} key=${open} id=${open} budget=${times?.budget ?? 500} onClose=${() => setQuery({ open: null })} />`}
    </div>
  `;
}

/** @param {Retrieval} item */
const drawRow = (item) => html`
  <div class="retrieval">
    <span class="when"><${Time} at=${item.at} /></span>
    <span class="agent cut muted">${askerOf(item)}</span>
    <span class="outcome"><${Chip} kind=${item.outcome}>${item.outcome}${toldCount(item) ? ` ${toldCount(item)}` : ""}<//></span>
    <span class="what cut">${item.prompt ?? html`<span class="muted">${OCCASIONS[item.occasion] ?? (item.event_id ? "prompt forgotten" : "no agent asked; words not kept")}</span>`}</span>
    <span class="why cut muted">${item.context_bytes ? "" : item.silent_because}</span>
    <span class="bytes number muted">${item.context_bytes ? size(item.context_bytes) : "–"}</span>
    <span class="ms number muted">${item.occasion === "prompt" && milliseconds(item.latency_ms)}</span>
  </div>
`;

/** @param {{id: string, budget: number, onClose: () => void}} props */
function Detail({ id, budget, onClose }) {
  const route = useRoute(`${ROUTE}/${encodeURIComponent(id)}`);
  const [said, setSaid] = useState(/** @type {string | null} */ (null));
  const data = route.data;
  const told = (data?.found ?? []).filter((/** @type {Found} */ each) => each.shown && each.memory);
  const say = async (/** @type {string} */ feedback) => {
    if (said || !told.length) return;
    setSaid(feedback);
    if (!(await attempt(() => call("POST", `${ROUTE}/${encodeURIComponent(id)}/feedback`, { feedback })))) return setSaid(null);
    toast(`Noted of ${counted(told.length, "memory", "memories")}: ${feedback}`);
    route.reload();
  };
  useKeys({ h: () => say("helped"), w: () => say("wrong") });
  const judging = html`
    <button aria-pressed=${String(said === "helped")} disabled=${said === "wrong"} title="Helped (h)" onClick=${() => say("helped")}>Helped</button>
    <button aria-pressed=${String(said === "wrong")} disabled=${said === "helped"} title="Wrong (w)" onClick=${() => say("wrong")}>Wrong</button>
  `;
  const actions = data && html`
    ${told.length > 0 && judging}
    <${Copy} text=${JSON.stringify(data, null, 2)} label="Copy as test case">Copy as test case<//>
  `;
  const heading = data ? `${data.outcome === "partial" ? "Answered in part" : data.outcome === "told" ? "Told" : "Silent"}: ${outcomeOf(data)}` : "Retrieval";
  return html`
    <${Panel} title=${heading} onClose=${onClose} actions=${actions}>
      <${State} title="this retrieval" route=${route}>${(/** @type {any} */ each) => html`<${Explained} data=${each} budget=${budget} said=${said} />`}<//>
    <//>
  `;
}

/** @param {{data: Retrieval, budget: number, said: string | null}} props */
function Explained({ data, budget, said }) {
  const told = data.found.filter((/** @type {Found} */ each) => each.shown);
  const left = data.found.filter((/** @type {Found} */ each) => !each.shown);
  return html`
    <div class="stack explained">
      <p class="line muted"><span>${askerOf(data)}</span><span>${data.project ?? ""}</span><${Time} at=${data.at} />
        ${data.session_id && html`<a href=${href("sessions", { session: data.session_id, of: data.namespace, event: data.event_id })}>its session</a>`}</p>
      ${data.prompt === null
        ? html`<p class="muted">${OCCASIONS[data.occasion] ? `It ${OCCASIONS[data.occasion]}, and asked nothing.` : data.event_id ? "The prompt was forgotten, or is not stored yet." : "No agent reported this prompt, so its words were never kept."}</p>`
        : html`<blockquote tabindex="0">${data.prompt}</blockquote>`}
      ${data.degraded.length > 0 && html`<p class="warn">Not in time, or failed: ${data.degraded.map(plain).join("; ")}</p>`}
      ${data.context_bytes === 0 && html`<p class="strong">${silenceOf(data)}</p>`}
      ${told.length > 0 && html`<section><h3>Told</h3><ol class="founds">${told.map((/** @type {Found} */ each) => html`<${Memory} ...${{ each, said }} isAsked=${data.occasion === "prompt"} />`)}</ol></section>`}
      ${left.length > 0 && html`
        <section><h3>Left out</h3>
          <${Few} items=${left} few=${LEFT_OUT_SHOWN}>${(/** @type {Found[]} */ shown) => html`<ol class="founds left">${shown.map((each) => html`<${Memory} each=${each} said=${null} />`)}</ol>`}<//></section>
      `}
      ${data.occasion === "prompt" && html`<${Stages} data=${data} budget=${budget} />`}
      ${data.context_bytes > 0 && html`<${Told} data=${data} />`}
      <p class="line muted">Retrieval <${Id} id=${data.retrieval_id} /></p>
    </div>
  `;
}

/** @param {Retrieval} data */
function silenceOf(data) {
  const isWeighed = data.confidence !== null && data.confidence < data.needed;
  return isWeighed ? `Told nothing: the closest was ${data.confidence.toFixed(2)}, needed ${data.needed}` : `Told nothing: ${data.silent_because}.`;
}

/** @param {{each: Found, said: string | null, isAsked?: boolean}} props */
function Memory({ each, said, isAsked = true }) {
  const became = said ?? each.became;
  const counts = ["helped", "wrong"].filter((name) => each.feedback[name]).map((name) => `${each.feedback[name]} ${name}`);
  return html`
    <li>
      ${each.memory
        ? html`<a class="strong" href=${href("memories", { open: each.record_id })}>${each.memory.title}</a>`
        : html`<span class="muted">Forgotten or replaced since <${Id} id=${each.record_id} /></span>`}
      <div class="line small muted">
        ${isAsked && html`<span>${each.found_by.join(" + ") || "through the memory that it overrules"}</span>
        <span class="number" title="The score, comparable within this retrieval">${each.score.toFixed(2)}</span>`}
        ${each.why !== "told" && html`<span>${WHY[each.why] ?? each.why}</span>`}
        ${became && html`<span class=${["wrong", "objected"].includes(became) ? "warn" : became === "ignored" ? "" : "ok"}>${BECAME[became]}</span>`}
        ${counts.length > 0 && html`<span>in all ${counts.join(", ")}</span>`}
      </div>
    </li>
  `;
}

/** @param {{data: Retrieval, budget: number}} props */
function Stages({ data, budget }) {
  const known = STAGES.flatMap(([, , names]) => names);
  const groups = STAGES.map(([name, colour, names]) => {
    const own = Object.entries(data.stages_ms).filter(([stage]) => (names.length ? names.includes(stage) : !known.includes(stage)));
    return { name, colour, own, ms: own.reduce((sum, [, ms]) => sum + Number(ms), 0) };
  }).filter((each) => each.own.length > 0);
  return html`
    <section>
      <h3>${data.latency_ms.toFixed(1)} of ${budget} ms · ${count(data.context_bytes)} bytes</h3>
      <div class="times" role="img" aria-label=${groups.map((each) => `${each.name} ${each.ms.toFixed(1)} ms`).join(", ")}>
        ${groups.map(({ colour, ms }) => html`<i class=${colour} ref=${(/** @type {any} */ part) => part && (part.style.flexGrow = String(Math.max(ms, 0.01)))}></i>`)}
      </div>
      <table class="stages">
        <tbody>${groups.map((each) => html`
          <tr><th scope="row"><i class="mark ${each.colour}"></i>${each.name}</th>
            <td class="muted">${each.own.map(([stage, ms]) => `${DOES[stage] ?? stage} ${Number(ms).toFixed(1)}`).join(" · ")}</td>
            <td class="number">${each.ms.toFixed(1)} ms</td></tr>`)}</tbody>
      </table>
    </section>
  `;
}

/** @param {{data: Retrieval}} props */
function Told({ data }) {
  if (data.context === null) return html`<p class="muted">The text is not kept: it had another format than that of excerpts.</p>`;
  const line = data.profile_bytes ? html`<p class="muted small">Its first line, of <${Size} bytes=${data.profile_bytes} /> on what the project is built with, is not kept.</p>` : null;
  return html`
    <section>
      <h3 class="with-copy">Text as told <${Copy} text=${data.context} label="Copy the text" /></h3>
      ${!data.is_as_told && html`<p class="warn small">Not exactly what was told: a memory in it was forgotten or changed since. This is the rest.</p>`}
      ${line}
      <pre tabindex="0">${data.context}</pre>
    </section>
  `;
}
