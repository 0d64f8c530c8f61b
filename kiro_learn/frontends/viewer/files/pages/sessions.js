// Sessions by day; one of them open at the right, with its events and the memories that came from each.
import { addStyle, html, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { useRoute } from "../lib/api.js";
import { agentName, clock, count, counted, day, shortId } from "../lib/format.js";
import { List, Panel } from "../lib/lists.js";
import { useLive } from "../lib/live.js";
import { usePages } from "../lib/memory.js";
import { href } from "../lib/nav.js";
import { Chip, Fresh, State } from "../lib/parts.js";
import { speaker } from "./memory.js";

addStyle("pages/memories.css");
addStyle("pages/sessions.css");

const PAGE = 50;
const EVENTS = 100;
const MOST_PAGES = 20;

const headline = (/** @type {any} */ session) => session?.first_prompt?.trim() || (session ? `Session ${shortId(session.session_id)}` : "Session");
/** `Mon 4 Nov`, or `4 Nov 2025` of another year: both fit the column. @param {string} text */
function dayOf(text) {
  const at = new Date(text);
  return at.getFullYear() === new Date().getFullYear() ? `${at.toLocaleDateString("en", { weekday: "short" })} ${day(at)}` : day(at);
}

/** @param {import("../lib/nav.js").PageProps} props */
export default function Page({ query, setQuery, project, nameOf }) {
  const list = usePages("/api/sessions", { project: project?.namespace, limit: PAGE });
  const [isNew, setNew] = useState(false);
  const box = useRef(/** @type {any} */ (null));
  const hear = (/** @type {any} */ { kind, namespace: of }) => (kind === "gap" || !project || of === project.namespace) && setNew(true);
  useLive("learned", hear);
  useLive("retrieval", hear);
  const { rows, route } = list;
  // A link that knows no project finds its session in the list.
  const id = query.session ?? query.open;
  const namespace = query.of ?? project?.namespace ?? rows.find((each) => each.session_id === id)?.namespace;
  const open = id && namespace ? `${namespace} ${id}` : null;
  const idOf = (/** @type {any} */ session) => `${session.namespace} ${session.session_id}`;
  const show = (/** @type {any} */ session) => setQuery({ session: session?.session_id, of: session?.namespace, open: null, memory: null, event: null });
  const showNew = () => {
    setNew(false);
    route.reload();
    box.current.querySelector(".list")?.scrollTo(0, 0);
  };
  const drawRow = (/** @type {any} */ session, /** @type {number} */ index) => {
    const of = dayOf(session.last_event_at);
    const isFirst = index === 0 || dayOf(rows[index - 1].last_event_at) !== of;
    return html`<${Row} ...${{ session, day: isFirst ? of : "", name: nameOf(session.namespace) }} />`;
  };
  return html`
    <div class="split" ref=${box}>
      <section class="box" aria-label="Sessions">
        <header><p class="small muted">Newest first</p>
          <div class="actions"><${Fresh} count=${Number(isNew)} word="Newer" onClick=${showNew} /></div></header>
        <${State} title="Sessions" route=${route} empty=${html`<p>No agent has reported yet. <code>kiro-learn doctor</code></p>`}>
          ${() => html`<${List} label="Sessions" rows=${rows} row=${drawRow} selected=${open} onOpen=${show} more=${list.more} id=${idOf} />`}
        <//>
      </section>
      ${open && html`<${Session} key=${open} id=${id} namespace=${namespace} name=${project?.name ?? nameOf(namespace)}
        head=${rows.find((each) => idOf(each) === open)} ...${{ query, setQuery }} onClose=${() => show(null)} />`}
    </div>
  `;
}

/** @param {{session: any, day: string, name?: string}} props */
const Row = ({ session, day, name }) => html`
  <div class="session">
    <span class="small day">${day}</span><span class="cut strong">${headline(session)}</span>
    <span class="small muted">${clock(new Date(session.last_event_at))}</span>
    <span class="small muted cut">${[agentName(session.agent), name, counted(session.event_count, "event")].filter(Boolean).join(" · ")}</span>
    <span class="small gave ${session.memory_count ? "" : "muted"}">${session.memory_count ? counted(session.memory_count, "memory", "memories") : "no memory"}</span>
  </div>
`;

/** @param {{id: string, namespace: string, name?: string, head: any, query: any, setQuery: any, onClose: () => void}} props */
function Session({ id, namespace, name, head, query, setQuery, onClose }) {
  const list = usePages("/api/session", { project: namespace, session: id, limit: EVENTS });
  const log = useRoute("/v1/retrievals", { namespace, limit: 200 }).data?.items;
  const answers = useMemo(() => new Map((log ?? []).map((/** @type {any} */ each) => [each.event_id, each])), [log]);
  const { memory, event } = query;
  const litEvent = list.rows.find((each) => each.event_id === event);
  const isLit = (/** @type {any} */ each) => each.event_id === event || (memory && each.memories.some((/** @type {any} */ one) => one.record_id === memory));
  const isMarked = (/** @type {string} */ recordId) => recordId === memory || litEvent?.memories.some((/** @type {any} */ one) => one.record_id === recordId);
  const firstLit = list.rows.find(isLit)?.event_id;
  const timeline = useRef(/** @type {any} */ (null));
  const pages = useRef(0);
  useEffect(() => {
    if ((memory || event) && !firstLit && list.more && pages.current++ < MOST_PAGES) list.more();
  }, [memory, event, list.rows.length]);
  const arrived = useRef(false);
  useEffect(() => {
    if (firstLit && !arrived.current) timeline.current?.querySelector(".lit")?.scrollIntoView({ block: "nearest" });
    if (list.rows.length) arrived.current = true;
  }, [firstLit, list.rows.length > 0]);
  const pick = (/** @type {any} */ changes) => setQuery({ memory: null, event: null, ...changes }, { replace: true });
  const first = list.rows.find((each) => each.kind === "prompt") ?? list.rows[0];
  const named = head ?? { session_id: id, first_prompt: first?.kind === "prompt" ? first.text : "" };
  return html`
    <${Panel} title=${headline({ ...named, first_prompt: named.first_prompt?.replace(/^([^]{199})[^]+$/, "$1…") })} onClose=${onClose}>
      <${State} title="This session" route=${list.route}>
        ${(/** @type {any} */ { session }) => html`
          <p class="small muted">${[agentName(first?.agent), name].filter(Boolean).join(" · ")} · ${dayOf(session.started_at)} ${clock(new Date(session.started_at))} to ${until(session)} ·
            ${" "}${counted(session.event_count, "event")}, ${counted(session.prompt_count, "prompt")} · <a href=${href("memories", { session: id })}>its memories</a></p>
          <ol class="timeline" ref=${timeline}>
            ${list.rows.map((each) => html`<${Event} key=${each.event_id} ...${{ event: each, isLit: isLit(each), isMarked, pick, answer: answers.get(each.event_id) }} />`)}
          </ol>
          ${list.more && html`<button onClick=${list.more}>Load more · ${count(list.rows.length)} of ${count(session.event_count)}</button>`}
        `}
      <//>
    <//>
  `;
}

/** @param {any} session */
const until = ({ started_at, last_event_at }) => (dayOf(started_at) === dayOf(last_event_at) ? "" : `${dayOf(last_event_at)} `) + clock(new Date(last_event_at));

/** @param {{event: any, isLit: boolean, isMarked: (id: string) => boolean, pick: (changes: any) => void, answer: any}} props */
function Event({ event, isLit, isMarked, pick, answer }) {
  const [isWhole, setWhole] = useState(false);
  const { memories, text } = event;
  const told = answer?.records.filter((/** @type {any} */ each) => each.shown).length ?? 0;
  return html`
    <li class="event ${event.kind} ${isLit ? "lit" : ""}">
      <p class="small muted line"><span class="number" title=${event.at}>${clock(new Date(event.at))}</span><span class="who">${speaker(event)}</span>
        ${answer && html`<a href=${href("retrievals", { open: answer.retrieval_id })}>${told ? `told ${told}` : "told nothing"}</a>`}</p>
      <p class="${isWhole ? "said" : "short"}">${text || html`<span class="muted">its content was removed by age</span>`}${isWhole && event.is_cut ? " …" : ""}</p>
      ${(text.length > 240 || text.split("\n").length > 3) && html`<button class="plain small" onClick=${() => setWhole(!isWhole)}>${isWhole ? "Less" : "More"}</button>`}
      ${memories.length > 0 && html`
        <div class="gave">
          <button class="plain small" aria-pressed=${String(isLit)} onClick=${() => pick(isLit ? {} : { event: event.event_id })}>gave ${counted(memories.length, "memory", "memories")}</button>
          ${memories.map((/** @type {any} */ each) => html`
            <span key=${each.record_id} class="came">
              <${Chip} pressed=${isMarked(each.record_id)} onClick=${() => pick(isMarked(each.record_id) ? {} : { memory: each.record_id })}><bdi>◆ ${each.title}</bdi><//>
              <a class="small" href=${href("memories", { open: each.record_id })} aria-label="Open ${each.title}">open</a>
            </span>
          `)}
        </div>
      `}
    </li>
  `;
}
