// Memories: listed, filtered, searched; one of them open at the right.
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { call } from "../lib/api.js";
import { attempt } from "../lib/asking.js";
import { count, counted, typeOf } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { List } from "../lib/lists.js";
import { useLive } from "../lib/live.js";
import { Bar, routeOf, saveFile, usePages } from "../lib/memory.js";
import { leave } from "../lib/nav.js";
import { Chip, Fresh, State, Time, toast } from "../lib/parts.js";
import { Forget, isSecret } from "./forget.js";
import { Memory } from "./memory.js";

const TYPES = ["constraint", "decision", "heuristic", "rejected", "discovery", "error", "pattern", "tool_use", "session_summary"];
const PAGE = 100;
const NO_FILTER = { type: null, since: null, until: null, file: null, concept: null, session: null, pinned: null };
const WORDS = ["words", "pairs", "literal"];

/** @param {any} data of either route @returns {any[]} */
const rowsOf = (data) => data.items ?? data.hits.map((/** @type {any} */ hit) => ({ ...hit.memory, score: hit.score, parts: hit.parts }));

/** @param {import("../lib/nav.js").PageProps} props */
export default function Page({ query, setQuery, project, nameOf }) {
  const { q, open, type, since, until, file, concept, session, pinned } = query;
  const params = { namespace: project?.namespace, type, since, until, file, concept, session, pinned, limit: PAGE, ...(q ? { query: q } : {}) };
  const list = usePages(q ? "/v1/search" : "/v1/memories", params, rowsOf);
  const { rows, route } = list;
  const [chosen, setChosen] = useState(/** @type {string[]} */ ([]));
  const [fresh, setFresh] = useState(/** @type {string[]} */ ([]));
  const [edited, setEdited] = useState(/** @type {string | null} */ (null));
  const [forgetting, setForgetting] = useState(/** @type {any} */ (null));
  const [judged, setJudged] = useState(0);
  const box = useRef(/** @type {any} */ (null));
  useEffect(() => setEdited((old) => (old === open ? old : null)), [open]);
  useEffect(() => (setChosen([]), setFresh([])), [JSON.stringify(params)]);
  useEffect(() => {
    if (q && document.activeElement === document.body) box.current.querySelector(".row")?.focus();
  }, [route.data]);

  useLive("learned", (event) => {
    if (event.kind === "gap") return setFresh((old) => [...old, `gap ${old.length}`]);
    if (!project || event.namespace === project.namespace) setFresh((old) => [...old.filter((id) => id !== event.record_id), event.record_id]);
  });
  const unseen = fresh.filter((id) => !rows.some((each) => each.record_id === id));
  const showNew = () => {
    setFresh([]);
    route.reload();
    box.current.querySelector(".list")?.scrollTo(0, 0);
  };

  const focused = () => rows[Number(/** @type {any} */ (document.activeElement?.closest(".row"))?.dataset.index ?? NaN)];
  const target = () => focused()?.record_id ?? open;
  const picked = () => (chosen.length ? chosen : [target()].filter(Boolean));
  const show = (/** @type {string | null} */ id, how = {}) => setQuery({ open: id }, how);
  const edit = () => {
    const id = target();
    if (!id || id === edited) return;
    leave(() => {
      show(id);
      setEdited(id);
    });
  };
  const judge = async (/** @type {string} */ said) => {
    const id = target();
    if (!id) return;
    toast(said === "helped" ? "Noted: it helped." : "Noted: it is wrong, and is told less. Edit corrects it.");
    if (await attempt(() => call("POST", routeOf(id, "/feedback"), { feedback: said }))) setJudged((old) => old + 1);
  };
  const saved = async (/** @type {any} */ { id, replaced }) => {
    const memory = await attempt(() => call("GET", routeOf(id)));
    if (memory) list.change((old) => old.map((each) => (each.record_id === replaced ? { ...each, ...memory } : each)));
    show(id, { replace: true });
    setEdited(null);
    toast("Saved.", { undo: () => undo(id) });
  };
  const last = useRef(/** @type {Promise<any>} */ (Promise.resolve())); // an undo means what was done last, which must have arrived
  const inTurn = /** @type {<T>(act: () => Promise<T>) => Promise<T>} */ ((act) => (last.current = last.current.then(act, act)));
  const undo = async (/** @type {string} */ id) => {
    const done = await inTurn(() => attempt(() => call("POST", routeOf(id, "/undo"), {})));
    if (!done) return;
    if (done.undone === "pin") return changed([{ record_id: id }]);
    const back = (await Promise.all(done.restored.map((/** @type {string} */ each) => attempt(() => call("GET", routeOf(each)))))).filter(Boolean);
    list.change((old) => old.flatMap((each) => (done.removed.includes(each.record_id) ? back : [each])));
    if (document.activeElement?.closest(".panel, .toast") || open === id) show(done.restored[0], { replace: true });
    toast(`Undone: ${counted(done.restored.length, "memory is", "memories are")} back.`);
  };
  const pin = async (/** @type {string[]} */ ids, /** @type {boolean | null} */ isPinned) => {
    isPinned ??= Boolean((rows.find((each) => each.record_id === ids[0]) ?? (await attempt(() => call("GET", routeOf(ids[0])))))?.pinned_at);
    const mark = (/** @type {(each: any) => string | null} */ at) => list.change((old) => old.map((each) => (ids.includes(each.record_id) ? { ...each, pinned_at: at(each) } : each)));
    mark(({ pinned_at: at }) => (isPinned ? null : (at ?? new Date().toISOString()))); // at once; the answer says the time
    const done = (await inTurn(() => Promise.all(ids.map((id) => attempt(() => call(isPinned ? "DELETE" : "POST", routeOf(id, "/pin"), {})))))).filter(Boolean);
    // Of several, an undo leaves those alone that were so before.
    const wasSo = (/** @type {any} */ { record_id: id }) => ids.length > 1 && Boolean(rows.find((each) => each.record_id === id)?.pinned_at) !== isPinned;
    if (done.length < ids.length) mark(({ record_id: id }) => rows.find((each) => each.record_id === id)?.pinned_at ?? null);
    if (done.length) changed(done, done.filter((each) => !wasSo(each)));
  };
  const changed = (/** @type {any[]} */ memories, turned = memories) => {
    const at = Object.fromEntries(memories.map((each) => [each.record_id, each.pinned_at]));
    list.change((old) => old.map((each) => (each.record_id in at ? { ...each, pinned_at: at[each.record_id] } : each)));
    setJudged((old) => old + 1);
    const isPinned = Boolean(memories[0].pinned_at);
    toast(isPinned ? "Pinned: told to every session at its start." : "No longer pinned.", { undo: () => pin(turned.map((each) => each.record_id), isPinned) });
  };
  const forget = (/** @type {string[]} */ memories) => memories.length && setForgetting({ memories });
  const forgotten = (/** @type {boolean} */ isMore) => {
    const gone = forgetting.memories ?? [];
    const left = rows.filter((each) => !gone.includes(each.record_id)).length;
    const place = Math.min(left - 1, rows.findIndex((each) => gone.includes(each.record_id)));
    setForgetting(null);
    setChosen([]);
    list.change((old) => old.filter((each) => !gone.includes(each.record_id)));
    if (isMore) route.reload();
    // After the dialog has given the focus back, so that the row in the place of the first has it in the end.
    requestAnimationFrame(() => {
      show(null, { replace: true });
      box.current.querySelector(`.row[data-index="${Math.max(0, place)}"]`)?.focus();
    });
  };
  const choose = (/** @type {string | undefined} */ id) =>
    id && setChosen((old) => (old.includes(id) ? old.filter((each) => each !== id) : [...old, id]));
  const step = (/** @type {number} */ by) => {
    const next = rows[rows.findIndex((each) => each.record_id === open) + by];
    if (next) show(next.record_id, { replace: true });
  };
  useKeys({
    x: () => choose(target()), e: edit, h: () => judge("helped"), w: () => judge("wrong"),
    u: () => target() && undo(target()), "#": () => forget(picked()), p: () => picked().length && pin(picked(), null),
  });

  // Scores of two projects do not compare.
  const best = /** @type {Record<string, number>} */ ({});
  for (const each of rows) best[each.namespace] = Math.max(best[each.namespace] ?? 0, each.score ?? 0);
  const drawRow = (/** @type {any} */ memory) => html`<${Row} ...${{ memory, best: best[memory.namespace], isChosen: chosen.includes(memory.record_id), choose, name: nameOf(memory.namespace) }} />`;
  const isFiltered = Boolean(type || since || until || file || concept || session || pinned);
  const empty = (/** @type {any} */ data) => rows.length === 0 && nothing({ data, q, isFiltered, clear: () => setQuery({ ...NO_FILTER, q: null }) });
  return html`
    <${Filters} query=${query} setQuery=${setQuery} />
    <div class="split" ref=${box}>
      <section class="box" aria-label="Memories">
        <header>
          <p class="small muted" role="status">${counts({ data: route.data, rows, grown: list.grown, isFiltered, more: list.more })}</p>
          <div class="actions">
            ${q && isSecret(q) && rows.length > 0 && html`<button class="link small" onClick=${() => setForgetting({ secret: q, ...(project ? { project: project.namespace } : {}) })}>Forget this text everywhere…</button>`}
            <${Fresh} count=${unseen.length} onClick=${showNew} />
          </div>
        </header>
        <${State} title="Memories" route=${route} empty=${empty}>
          ${() => html`<${List} label="Memories" rows=${rows} row=${drawRow} selected=${open} onOpen=${(/** @type {any} */ memory) => show(memory.record_id)} more=${list.more} />`}
        <//>
        ${chosen.length > 0 && html`
          <footer class="chosen"><span role="status">${count(chosen.length)} chosen</span>
            <button onClick=${() => setChosen(rows.map((each) => each.record_id))}>Choose all ${count(rows.length)}</button>
            <button onClick=${() => pin(chosen, false)}>Pin</button>
            <button onClick=${() => attempt(() => exportAll(chosen))}>Export</button>
            <button class="danger" onClick=${() => forget(chosen)}>Forget…</button>
            <button class="plain" onClick=${() => setChosen([])}>Clear</button></footer>
        `}
      </section>
      ${open && html`<${Memory} id=${open} name=${project?.name ?? nameOf(rows.find((each) => each.record_id === open)?.namespace)}
        ...${{ isEditing: edited === open, setEditing: (/** @type {boolean} */ is) => setEdited(is ? open : null), judged }} onClose=${() => show(null)} onFilter=${(/** @type {any} */ by) => setQuery({ ...NO_FILTER, q: null, ...by })}
        onSaved=${saved} onUndo=${() => undo(open)} onForget=${() => forget([open])} onJudge=${judge} onPin=${(/** @type {boolean} */ is) => pin([open], is)} step=${rows.length > 1 ? step : null} />`}
    </div>
    ${forgetting && html`<${Forget} selection=${forgetting} onDone=${forgotten} onClose=${() => setForgetting(null)} />`}
  `;
}

/** @param {{memory: any, best: number, isChosen: boolean, choose: (id: string) => void, name?: string}} props */
const Row = ({ memory, best, isChosen, choose, name }) => html`
  <div class="memory">
    <input type="checkbox" tabindex="-1" aria-label="Choose ${memory.title}" title="Choose (x)" checked=${isChosen}
      onClick=${(/** @type {Event} */ event) => event.stopPropagation()} onChange=${() => choose(memory.record_id)} />
    <span class="cut strong">${memory.title}</span>
    <span class="type" title=${typeOf(memory)}><${Chip}>${typeOf(memory)}<//></span>
    <span class="line small muted about">
      ${memory.parts && html`
        <${Bar} word="words" kind="c1" part=${share(WORDS.map((part) => memory.parts[part] ?? 0), best)} />
        <${Bar} word="meaning" kind="c2" part=${share([memory.parts.meaning ?? 0], best)} />
      `}
      ${name && html`<span class="of">${name}</span>`}
      ${!memory.parts && html`<span class="cut">${memory.summary}</span>`}
      ${memory.stale_at && html`<span class="warn">stale</span>`}
      ${memory.pinned_at && html`<span class="strong">pinned</span>`}
    </span>
    <span class="small muted when"><${Time} at=${memory.created_at} /></span>
  </div>
`;

/** @param {number[]} parts @param {number} best */
const share = (parts, best) => (best > 0 ? Math.min(1, Math.max(0, parts.reduce((sum, part) => sum + part, 0) / best)) : 0);

/** `5 of 1,204 · 12 ms`. @param {{data: any, rows: any[], grown: number, isFiltered: boolean, more: any}} shown */
function counts({ data, rows, grown, isFiltered, more }) {
  if (!data) return "";
  if (data.hits) return `${count(rows.length)} of ${count(data.memory_count + grown)} · ${Math.round(data.latency_ms)} ms${data.degraded.length ? " · partial answer" : ""}`;
  if (isFiltered) return `${more ? "over " : ""}${count(rows.length)} of ${count(data.total + grown)}`;
  return counted(data.total + grown, "memory", "memories");
}

/** @param {{data: any, q?: string, isFiltered: boolean, clear: () => void}} why */
function nothing({ data, q, isFiltered, clear }) {
  const total = data.total ?? data.memory_count;
  if (!q && !isFiltered) return html`<p>Nothing learned yet. Use a connected agent, or: <code>kiro-learn import</code></p>`;
  return html`<p>No memory ${q ? html`matches <q>${q}</q>` : "fits"} (${counted(total, "memory", "memories")} looked at). <button onClick=${clear}>Clear filters</button></p>`;
}

/** @param {{query: Record<string, string>, setQuery: (changes: any) => void}} props */
function Filters({ query, setQuery }) {
  const file = useRef(/** @type {any} */ (null));
  useEffect(() => void (file.current.value = query.file ?? ""), [query.file]); // what is typed stays while the page is drawn anew
  const set = (/** @type {string} */ name) => (/** @type {any} */ event) => setQuery({ [name]: event.target.value.trim() || null, open: null });
  const others = ["q", "concept", "session"].filter((name) => query[name]);
  const types = query.type && !TYPES.includes(query.type) ? [...TYPES, query.type] : TYPES;
  return html`
    <div class="filters" role="group" aria-label="Filters">
      <label>Type <select value=${query.type ?? ""} onChange=${set("type")}><option value="">any</option>${types.map((type) => html`<option value=${type}>${type.replaceAll("_", " ")}</option>`)}</select></label>
      <label>File <input ref=${file} onChange=${set("file")} placeholder="any" autocomplete="off" spellcheck=${false} /></label>
      <label>Since <input type="date" value=${query.since ?? ""} onChange=${set("since")} /></label>
      <label>Until <input type="date" value=${query.until ?? ""} onChange=${set("until")} /></label>
      <${Chip} pressed=${query.pinned === "true"} onClick=${() => setQuery({ pinned: query.pinned ? null : "true", open: null })}>Pinned<//>
      ${others.map((name) => html`<${Chip} key=${name} pressed=${true} onClick=${() => setQuery({ [name]: null, open: null })}>${name === "q" ? "search" : name}: ${query[name]} ✕<//>`)}
    </div>
  `;
}

/** @param {string[]} ids */
const exportAll = async (ids) => saveFile("memories.jsonl", await Promise.all(ids.map((id) => call("GET", routeOf(id)))));
