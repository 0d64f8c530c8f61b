// One memory, open at the right: what it says, where it came from, who was told it, what it replaced; and its corrections.
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { call, useRoute } from "../lib/api.js";
import { Fields, typedIn, useAct } from "../lib/asking.js";
import { ago, agentName, counted, shortId, typeOf } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { Few, Id, Panel } from "../lib/lists.js";
import { routeOf } from "../lib/memory.js";
import { href, useForm } from "../lib/nav.js";
import { Chip, State, Time } from "../lib/parts.js";

const WHO = /** @type {Record<string, string>} */ ({ prompt: "you", tool_use: "tool", session_summary: "agent", note: "note" });
const SHOWN_EVENTS = 5;

/** Who speaks in an event. @param {any} event */
export const speaker = (event) => (event.kind === "tool_use" && event.tool ? event.tool : (WHO[event.kind] ?? event.kind));

/**
 * @param {{id: string, name: string, isEditing: boolean, setEditing: (is: boolean) => void, onClose: () => void, onFilter: (by: any) => void,
 *   onSaved: (answer: any) => void, onUndo: () => void, onForget: () => void, onJudge: (said: string) => void, onPin: (isPinned: boolean) => void, judged: number,
 *   step: ((by: number) => void) | null}} props
 */
export function Memory({ id, name, isEditing, setEditing, onClose, onFilter, onSaved, onUndo, onForget, onJudge, onPin, judged, step }) {
  const route = useRoute(routeOf(id));
  const history = useRoute(routeOf(id, "/history"));
  const events = useRoute(routeOf(id, "/events"));
  const memory = route.data;
  const { pinned_at: pinned, replacements = [] } = history.data ?? {};
  const pinnedLast = pinned && !(replacements[0]?.replaced_at > pinned) ? pinned : null;
  useEffect(() => void (judged && (route.reload(), history.reload())), [judged]);
  const actions = memory && !isEditing && html`
    <button onClick=${() => setEditing(true)} title="Edit (e)">Edit</button>
    <button onClick=${() => onPin(Boolean(memory.pinned_at))} title="Pin, or take the pin away (p)">${memory.pinned_at ? "Unpin" : "Pin"}</button>
    <button onClick=${() => onJudge("helped")} title="It helped (h)">Helped</button>
    <button onClick=${() => onJudge("wrong")} title="It is wrong (w)">Wrong</button>
    <button class="danger" onClick=${onForget} title="Forget (#)">Forget…</button>
    ${step && html`<span class="steps">
      <button class="plain" aria-label="Previous" title="Previous" onClick=${() => step(-1)}>‹</button>
      <button class="plain" aria-label="Next" title="Next" onClick=${() => step(1)}>›</button>
    </span>`}
  `;
  return html`
    <${Panel} key=${id} title=${memory?.title ?? "Memory"} onClose=${onClose} actions=${actions}>
      ${isEditing && memory ? html`<${Edit} ...${{ memory, onSaved }} onCancel=${() => setEditing(false)} />` : html`<${State} title="This memory" route=${route}>
        ${() => html`
            <div class="stack">
              <p class="line small muted"><${Chip}>${typeOf(memory)}<//><span>${name}</span><span>learned <${Time} at=${memory.created_at} /></span>
                ${memory.stale_at && html`<span class="warn">cites files that changed</span>`}${memory.pinned_at && html`<span class="strong">pinned</span>`}<${Id} id=${id} /></p>
              <p class="said">${memory.summary}</p>
              ${memory.text && memory.text !== memory.summary && html`<details><summary>Text as it was handed in</summary><pre>${memory.text}</pre></details>`}
              <${Lists} memory=${memory} onFilter=${onFilter} />
              <${CameFrom} ...${{ id, events }} isShared=${memory.strategy === "team-shared"} />
              <${Told} ...${{ id, judged, events }} namespace=${memory.namespace} />
              ${(pinnedLast || replacements.length > 0) && html`<${History} ...${{ replacements, pinnedLast, onUndo }} strategy=${memory.strategy} />`}
            </div>
          `}
      <//>`}
    <//>
  `;
}

/** @param {{memory: any, onFilter: (by: any) => void}} props */
function Lists({ memory, onFilter }) {
  const files = [...new Set([...(memory.files_touched ?? []), ...(memory.files_modified ?? []), ...(memory.files_read ?? [])])];
  const details = Object.entries(memory.details ?? {}).map(([name, value]) => [name.replaceAll("_", " "), [value].flat().join(", ")]);
  return html`
    ${memory.facts?.length > 0 && html`<section><h3>Facts</h3><ul class="dots">${memory.facts.map((/** @type {string} */ fact) => html`<li>${fact}</li>`)}</ul></section>`}
    ${details.length > 0 && html`<dl class="facts">${details.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`}
    ${[["Files", "file", "mono", files], ["Concepts", "concept", "", memory.concepts ?? []]].map(([word, filter, kind, all]) => all.length > 0 && html`
      <section><h3>${word}</h3><div class="chips">
        ${all.map((/** @type {string} */ each) => html`<${Chip} kind=${kind} onClick=${() => onFilter({ [filter]: each })}>${each}<//>`)}
      </div></section>
    `)}
  `;
}

/** @param {{id: string, events: import("../lib/api.js").RouteState, isShared: boolean}} props */
function CameFrom({ id, events: route, isShared }) {
  return html`
    <section>
      <h3>Learned from</h3>
      <${State} title="The events of this memory" route=${route} empty=${(/** @type {any} */ data) => data.items.length === 0 && "The events it came from are gone."}>
        ${(/** @type {any} */ data) => isShared ? html`<p>${data.told_by.join(", ")}, through the team</p>` : html`
          <${Few} items=${data.items} few=${SHOWN_EVENTS}>${(/** @type {any[]} */ shown) => bySession(shown).map(([session, events]) => html`
            <a key=${session} class="source" href=${href("sessions", { session, of: events[0].namespace, memory: id })}>
              Session ${shortId(session)} of ${agentName(events[0].agent)} · ${counted(events.length, "event")}</a>
            <ol class="events">${events.map((/** @type {any} */ event) => html`
              <li key=${event.event_id}>
                <span class="small muted">${ago(event.at)} · ${speaker(event)}</span>
                <p class="short">${event.text || html`<span class="muted">its content was removed by age</span>`}</p>
              </li>`)}</ol>
          `)}<//>
          ${data.event_count > data.items.length && html`<p class="small muted">${counted(data.event_count - data.items.length, "event")} more: gone, or not shown</p>`}
        `}
      <//>
    </section>
  `;
}

/** @param {any[]} events @returns {[string, any[]][]} */
const bySession = (events) => [...new Set(events.map((each) => each.session_id))].map((id) => [id, events.filter((each) => each.session_id === id)]);

/** @param {{id: string, namespace: string, judged: number, events: import("../lib/api.js").RouteState}} props */
function Told({ id, namespace, judged, events }) {
  const told = events.data?.told ?? [];
  const feedback = useRoute(routeOf(id, "/feedback"), {}, judged);
  const log = useRoute("/v1/retrievals", { namespace, limit: 200 }).data?.items ?? [];
  const tellings = log.filter((/** @type {any} */ each) => each.records.some((/** @type {any} */ record) => record.record_id === id && record.shown));
  const last = tellings[0]?.at ?? told[0]?.last_prompt_at;
  return html`
    <section>
      <h3>Told</h3>
      <${State} title="What became of it" route=${feedback}>
        ${(/** @type {any} */ { helped, wrong, used, ignored, objected }) => html`
          <p>${told.length ? html`in ${counted(told.length, "session")}${last && html`, last <${Time} at=${last} />`}` : "never yet"}${
            used || ignored || objected ? ` · used ${used}, not used ${ignored}, objected to ${objected}` : ""}${helped || wrong ? ` · you said: ${helped} helped, ${wrong} wrong` : ""}</p>
          <ul class="plain-list">
            ${tellings.slice(0, SHOWN_EVENTS).map((/** @type {any} */ each) => html`
              <li key=${each.retrieval_id}><a href=${href("retrievals", { open: each.retrieval_id })}>Retrieval of ${ago(each.at)}</a></li>`)}
            ${!tellings.length && told.slice(0, SHOWN_EVENTS).map((/** @type {any} */ each) => html`
              <li key=${each.session_id}><a href=${href("sessions", { session: each.session_id, of: each.namespace })}>Session ${shortId(each.session_id)}</a></li>`)}
          </ul>
        `}
      <//>
    </section>
  `;
}

const CAME_BY = /** @type {Record<string, string>} */ ({ edited: "edited", distilled: "shortened by age", relearned: "learned again from" });

/** How a memory came of those that it replaced. @param {any} each @param {string} strategy @param {number} index */
function cameBy({ reason, replaced }, strategy, index) {
  const word = CAME_BY[index === 0 && reason === "merged" && replaced.length === 1 ? strategy : reason] ?? "merged from";
  return word.endsWith("from") ? `${word} ${counted(replaced.length, "memory", "memories")}` : word;
}

/** @param {{replacements: any[], strategy: string, pinnedLast: string | null, onUndo: () => void}} props */
const History = ({ replacements, strategy, pinnedLast, onUndo }) => html`
  <section>
    <h3>History</h3>
    <ol class="plain-list">
      ${pinnedLast && html`<li><p class="line">pinned <${Time} at=${pinnedLast} /> <button onClick=${onUndo} title="Undo (u)">Undo</button></p></li>`}
      ${replacements.map((each, index) => html`
        <li key=${each.replacement_id}>
          <p class="line">${cameBy(each, strategy, index)} <${Time} at=${each.replaced_at} />
            ${index === 0 && !pinnedLast && html`<button onClick=${onUndo} title="Undo (u)">Undo</button>`}</p>
          <ul class="dots">${each.replaced.map((/** @type {any} */ old) => html`<li key=${old.record_id}><bdi>${old.title}</bdi> <span class="muted">· ${ago(old.created_at)}</span></li>`)}</ul>
        </li>
      `)}
    </ol>
  </section>
`;

const FIELDS = /** @type {[string, string, number][]} */ ([["title", "Title", 0], ["summary", "Summary", 4], ["text", "Text", 6], ["facts", "Facts, one a line", 4], ["concepts", "Concepts, one a line", 3], ["files", "Files, one a line", 3]]);

/** @param {{memory: any, onSaved: (answer: any) => void, onCancel: () => void}} props */
function Edit({ memory: now, onSaved, onCancel }) {
  const [memory] = useState(now); // what is being edited is not drawn anew
  const form = useRef(/** @type {any} */ (null));
  useEffect(() => form.current.elements.title.focus(), []);
  const unsaved = useForm(form);
  const cancel = () => unsaved(onCancel);
  useKeys({ Escape: cancel });
  const { isBusy, problem, run: save } = useAct(async () => {
    const changes = typedIn(form.current);
    if (!changes) return onCancel();
    const answer = await call("POST", "/v1/memories/edit", { project: memory.namespace, id: memory.record_id, ...changes });
    for (const each of form.current.elements) each.defaultValue = each.value;
    onSaved(answer);
  });
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault(); // else it also closes the question
    cancel();
  };
  return html`
    <form class="stack" ref=${form} onSubmit=${save} onKeyDown=${onKeyDown}>
      <${Fields} fields=${FIELDS.filter(([name]) => name !== "text" || memory.text)} of=${{ ...memory, files: memory.files_touched }} />
      ${problem && html`<p class="bad" role="alert">${problem}</p>`}
      <div class="line"><button class="primary" disabled=${isBusy}>${isBusy ? "Saving…" : "Save"}</button>
        <button type="button" onClick=${cancel}>Cancel</button><span class="small muted">Ctrl Enter saves. The old version is kept in the history.</span></div>
    </form>
  `;
}
