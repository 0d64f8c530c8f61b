// What agents remember, whether it helps, how fast, and what goes on right now.
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { useRoute } from "../lib/api.js";
import { Chart } from "../lib/chart.js";
import { agentName, ago, clock, count, counted, day, milliseconds, OCCASIONS, typeOf } from "../lib/format.js";
import { useLive } from "../lib/live.js";
import { go, href } from "../lib/nav.js";
import { Box, Chip, Copy, Figure, Fresh, Time, useSoon } from "../lib/parts.js";
import { problemsOf } from "./health.js";

const PERIODS = [7, 14, 30, 90];
const USUAL_DAYS = 14;
const ROWS = 8;
const KEPT_ROWS = 60;
const FIGURES_SECONDS = 3;
const HEALTH_SECONDS = 60;
const DAY_MS = 86_400_000;

/** @typedef {{day: string, learned: number, told: number, prompts: number, sessions: number, calls: number, failures: number}} Day */
/** @typedef {import("../lib/api.js").RouteState} RouteState */

/** @param {import("../lib/nav.js").PageProps} props */
export default function Overview({ query, setQuery, project, nameOf }) {
  const days = Number(query.days ?? USUAL_DAYS);
  const namespace = project?.namespace;
  const daily = calm(useRoute("/api/days", { project: namespace, days }));
  const status = calm(useRoute("/v1/status"));
  const [calls, setCalls] = useState(/** @type {number | null} */ (null));
  const soon = useSoon(daily.reload, FIGURES_SECONDS);
  const rarely = useSoon(status.reload, HEALTH_SECONDS);
  useLive("status", (event) => {
    if (event.kind === "gap") status.reload();
    else setCalls(event.calls);
    soon();
    rarely();
  });
  const period = html`
    <select aria-label="Period" value=${String(days)} onChange=${(/** @type {any} */ event) => setQuery({ days: event.target.value })}>
      ${PERIODS.map((each) => html`<option value=${each}>${each} days</option>`)}
    </select>
  `;
  return html`
    <${Figures} daily=${daily.data} llm=${status.data?.llm} calls=${calls} />
    <${ToSettle} ...${{ namespace, nameOf }} />
    <div class="columns stretch wide-left">
      <${Box} title="Learned and told, per day" route=${daily} actions=${period} empty=${nothingYet}>${(/** @type {any} */ data) => html`<${PerDay} days=${data.days} />`}<//>
      <${Box} title="Answer time" route=${daily} actions=${html`<span class="muted small">since the daemon started</span>`} empty=${noPrompt}>${(/** @type {any} */ data) => html`<${AnswerTime} ...${data} />`}<//>
    </div>
    <${Box} title="Does it help?" route=${daily}>${(/** @type {any} */ data) => html`<${Helps} ...${data} />`}<//>
    ${daily.data?.days.some((/** @type {Day} */ each) => each.calls) && html`<${Box} title="Model calls, per day" route=${daily}>${(/** @type {any} */ data) => html`<${Calls} days=${data.days} />`}<//>`}
    <div class="columns stretch">
      <${Learned} ...${{ namespace, nameOf, today: daily.data?.days.at(-1) }} />
      <${Live} ...${{ namespace, nameOf }} />
    </div>
    <${Box} title="Health" route=${status}>${(/** @type {any} */ data) => html`<${Health} status=${data} />`}<//>
  `;
}

/** What is there already stays as it is while it is read again. @param {RouteState} route @returns {RouteState} */
const calm = (route) => ({ ...route, loading: route.loading && route.data === null });

const nothingLearned = html`Nothing learned yet. Use a connected agent, or: <code>kiro-learn import</code>`;
const nothingYet = (/** @type {any} */ data) => (data.memories ? null : nothingLearned);
const noPrompt = (/** @type {any} */ data) => (data.latency_ms.answers ? null : "No prompt asked since the daemon started.");
const total = (/** @type {Record<string, number>} */ counts) => Object.values(counts).reduce((sum, each) => sum + each, 0);
const since = (/** @type {number} */ days) => new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);

/** How many answers took no longer than allowed. @param {{latency_ms: any, budget_ms: number}} data */
const inTime = ({ latency_ms, budget_ms }) =>
  Object.entries(latency_ms.bins).reduce((sum, [bound, each]) => sum + (Number(bound) <= budget_ms ? each : 0), 0);

/** What contradicts each other; without any, nothing is loaded for it. @param {{namespace: string | undefined, nameOf: (namespace: string) => string}} props */
function ToSettle({ namespace, nameOf }) {
  const route = calm(useRoute("/api/conflicts", { project: namespace }));
  const [loaded, setLoaded] = useState(/** @type {any} */ (null));
  const isNeeded = route.error !== null || route.data?.items.length > 0;
  useEffect(() => void (isNeeded && import("./conflicts.js").then(setLoaded)), [isNeeded]);
  return isNeeded && loaded && html`<${loaded.Conflicts} ...${{ route, nameOf }} />`;
}

/** @param {{daily: any, llm: any, calls: number | null}} props */
function Figures({ daily, llm, calls }) {
  const today = daily?.days.at(-1);
  const answers = daily?.latency_ms.answers;
  const speed = answers ? `p95 ${Math.round(daily.latency_ms.p95)} of ${daily.budget_ms} ms` : "no prompt since the daemon started";
  const learner = llm?.strategy === "extractive" ? "learning without a model" : `learning by ${llm?.name}`;
  const of = (/** @type {number} */ value, /** @type {number} */ most) => html`${count(value)}${most ? html`<small> of ${count(most)}</small>` : ""}`;
  return html`
    <div class="figures">
      <${Figure} label="Memories" href=${href("memories")} value=${daily ? count(daily.memories) : "–"} note=${today && `+${count(today.learned)} today`} />
      <${Figure} label="Sessions" href=${href("sessions")} value=${daily ? count(total(daily.sessions)) : "–"} note=${today && `${count(today.sessions)} today`} />
      <${Figure} label="Answered in time" href=${href("retrievals")} value=${answers ? of(inTime(daily), answers) : "–"} note=${daily && speed} />
      <${Figure} label="Model calls today" href=${href("settings")} value=${llm ? of(calls ?? llm.usage.calls, llm.usage.limit) : "–"} note=${llm && learner} />
    </div>
  `;
}

/** @param {{days: Day[]}} props */
function PerDay({ days }) {
  const today = days[days.length - 1];
  const average = days.reduce((sum, each) => sum + each.learned, 0) / days.length;
  const pick = (/** @type {number} */ index) => go(href("memories", { since: days[index].day, until: days[index].day }));
  const sentence = `${count(today.learned)} learned today, ${average < 10 ? Number(average.toFixed(1)) : Math.round(average)} a day on average; ${count(today.told)} told today.`;
  const series = [
    { label: "learned", color: "c1", values: days.map((each) => each.learned) },
    { label: "told", color: "c2", shape: /** @type {"line"} */ ("line"), values: days.map((each) => each.told) },
  ];
  return html`<${Daily} ...${{ days, sentence, series, onPick: pick }} />`;
}

/** @param {{days: Day[]}} props */
function Calls({ days }) {
  const sum = (/** @type {"calls" | "failures"} */ name) => days.reduce((all, each) => all + each[name], 0);
  const sentence = `${counted(sum("calls"), "call")} in ${days.length} days, of which ${count(sum("failures"))} failed.`;
  const series = [
    { label: "all", color: "c1", values: days.map((each) => each.calls) },
    { label: "failed", color: "c2", values: days.map((each) => each.failures) },
  ];
  return html`<${Daily} ...${{ days, sentence, series, onPick: () => go(href("settings")) }} />`;
}

/** @param {{days: Day[], sentence: string, series: import("../lib/chart.js").Series[], onPick: (index: number) => void}} props */
const Daily = ({ days, ...given }) => html`<${Chart} ...${given} corner="Day (UTC)" names=${days.map((each) => day(new Date(`${each.day}T00:00:00`)))} />`;

/** @param {{latency_ms: any, budget_ms: number}} props */
function AnswerTime({ latency_ms, budget_ms }) {
  const { answers, p50, p95, bins } = latency_ms;
  const bounds = Object.keys(bins).map(Number).sort((a, b) => a - b);
  const place = (/** @type {number} */ ms) => {
    const index = bounds.findIndex((bound) => ms <= bound);
    if (index < 0) return bounds.length;
    const least = index ? bounds[index - 1] : 0;
    return index - 0.5 + (ms - least) / (bounds[index] - least);
  };
  const over = answers - total(bins);
  const bars = [...bounds.map((bound) => bins[bound]), over];
  const isLate = (/** @type {number} */ index) => index === bounds.length || bounds[index] > budget_ms;
  const isNear = Math.abs(place(p95) - place(p50)) < 1;
  const marks = [
    { at: place(p50), label: isNear ? "" : "p50" },
    { at: place(p95), label: isNear ? "p50 p95" : "p95" },
    { at: place(budget_ms), label: `${budget_ms} ms`, color: "bad" },
  ];
  const sentence = `Half of ${counted(answers, "answer")} took ${milliseconds(p50)} or less, 95 % ${milliseconds(p95)}.`;
  const series = [
    { label: "in time", color: "c1", values: bars.map((each, index) => (isLate(index) ? null : each)) },
    { label: `cut at ${budget_ms} ms`, color: "bad", values: bars.map((each, index) => (isLate(index) ? each : null)) },
  ];
  const names = [...bounds.map(String), `>${bounds[bounds.length - 1]}`];
  return html`<${Chart} ...${{ sentence, corner: "up to ms", names, series, marks }} />`;
}

/** @param {{days: Day[], feedback: Record<string, number>}} props */
function Helps({ days, feedback }) {
  const told = days.reduce((sum, each) => sum + each.told, 0);
  const judged = feedback.used + feedback.ignored + feedback.objected;
  const facts = [
    [told, `told in ${days.length} days`, ""],
    [feedback.used, `used, of ${count(judged)} judged`, "ok"],
    [feedback.objected, "objected to in the next prompt", feedback.objected ? "warn" : ""],
    [feedback.helped, "you said helped", "ok"],
    [feedback.wrong, "you said wrong", feedback.wrong ? "bad" : ""],
  ];
  return html`
    <ul class="helps">${facts.map(([value, label, kind]) => html`<li><b class=${value ? kind : ""}>${count(Number(value))}</b> <span class="muted">${label}</span></li>`)}</ul>
  `;
}

/** @param {{namespace: string | undefined, nameOf: (namespace: string) => string, today: Day | undefined}} props */
function Learned({ namespace, nameOf, today }) {
  const route = calm(useRoute("/v1/memories", { namespace, limit: ROWS }));
  const [fresh, setFresh] = useState(0);
  useLive("learned", (event) => {
    if (event.kind === "gap") route.reload();
    else if (!namespace || event.namespace === namespace) setFresh((old) => old + 1);
  });
  const show = () => (setFresh(0), route.reload());
  const isShown = (/** @type {any} */ each) => !today?.learned || each.created_at.startsWith(today.day);
  const links = html`
    <${Fresh} count=${fresh} onClick=${show} />
    <a href=${href("memories", { since: since(7) })}>last 7 days</a>
    ${today?.learned ? html`<a href=${href("memories", { since: since(1) })}>all ${count(today.learned)} of today</a>` : ""}
  `;
  return html`
    <${Box} title=${today?.learned ? "Learned today" : "Learned last"} route=${route} actions=${links} empty=${nothingLearned}>
      ${(/** @type {any} */ data) => html`
        <ul class="feed">
          ${data.items.filter(isShown).map((/** @type {any} */ each) => html`<li key=${each.record_id}>
            <span class="kind" title=${typeOf(each)}><${Chip}>${typeOf(each)}<//></span>
            <a class="two-lines" href=${href("memories", { open: each.record_id })}>${each.title}</a>
            <span class="muted small where">${nameOf(each.namespace)} <${Time} at=${each.created_at} /></span>
          </li>`)}
        </ul>
      `}
    <//>
  `;
}

/** @param {{namespace: string | undefined, nameOf: (namespace: string) => string}} props */
function Live({ namespace, nameOf }) {
  const answers = calm(useRoute("/v1/retrievals", { namespace, limit: ROWS }));
  const [heard, setHeard] = useState(/** @type {any[]} */ ([]));
  const [waiting, setWaiting] = useState(0);
  const [isHeld, setHeld] = useState(false);
  const box = useRef(/** @type {any} */ (null));
  const forget = () => (setHeard([]), setWaiting(0));
  useEffect(forget, [namespace]);
  // What was heard while the list was read stays before it.
  const known = new Set(heard.map((each) => each.retrieval_id));
  const read = (answers.data?.items ?? []).filter((/** @type {any} */ each) => !known.has(each.retrieval_id));
  const rows = [...heard, ...read.map((/** @type {any} */ each) => ({ ...each, kind: "retrieval" }))].slice(0, KEPT_ROWS);
  const take = (/** @type {any} */ event) => {
    if (event.kind === "gap") return forget(), answers.reload();
    if (namespace && event.namespace !== namespace) return;
    setHeard((old) => [event, ...old].slice(0, KEPT_ROWS));
    if (isHeld || box.current?.scrollTop > 0) setWaiting((old) => old + 1);
  };
  useLive("retrieval", take);
  useLive("learned", (event) => event.kind === "gap" || take(event));
  const show = () => (setWaiting(0), box.current?.scrollTo(0, 0));
  const hold = () => (isHeld && show(), setHeld(!isHeld));
  const actions = html`
    <${Fresh} count=${waiting} onClick=${show} />
    <button class="chip" aria-pressed=${String(isHeld)} onClick=${hold}>Hold</button>
  `;
  return html`
    <${Box} title="Live" route=${answers} actions=${actions} empty=${() => (rows.length ? null : "No prompt asked since the daemon started. What agents ask and learn shows here.")}>
      ${() => html`<ul class="feed live-feed" ref=${box} tabindex="0" aria-label="What happened last">${rows.slice(waiting).map((/** @type {any} */ each) => html`<${Happened} key=${`${each.kind} ${each.at} ${each.record_id ?? ""}`} ...${{ each, nameOf }} />`)}</ul>`}
    <//>
  `;
}

/** @param {{each: any, nameOf: (namespace: string) => string}} props */
function Happened({ each, nameOf }) {
  const where = nameOf(each.namespace);
  const at = html`<time class="muted number" datetime=${each.at} title=${each.at}>${clock(new Date(each.at))}</time>`;
  if (each.kind === "learned") return html`<li>${at}<a class="cut" href=${href("memories", { open: each.record_id })}>learned “<bdi>${each.title}</bdi>”</a><span class="muted small where">${where}</span></li>`;
  const told = each.records.filter((/** @type {any} */ record) => record.shown).length;
  const outcome = each.degraded.length ? "partial answer" : each.context_bytes ? `told ${counted(told, "memory", "memories")}` : "told nothing";
  const what = each.occasion === "prompt" ? `asked · ${outcome} · ${milliseconds(each.latency_ms)}` : `${OCCASIONS[each.occasion]} · ${outcome}`;
  return html`<li>
    ${at}<a class="cut" href=${href("retrievals", { open: each.retrieval_id })}>${agentName(each.agent)} ${what}</a>
    <span class="muted small where">${where}</span>
  </li>`;
}

/** @param {{status: any}} props */
function Health({ status }) {
  const [isAsked, setAsked] = useState(false);
  const doctor = useRoute(isAsked ? "/v1/doctor" : null);
  const checks = (doctor.data?.checks ?? []).filter((/** @type {any} */ each) => ["warn", "fail"].includes(each.state));
  const problems = [...problemsOf(status), ...checks.map((/** @type {any} */ each) => ({ what: each.title, why: each.detail, mend: each.mend }))];
  const look = html` <button disabled=${doctor.loading} onClick=${() => (isAsked ? doctor.reload() : setAsked(true))}>${doctor.loading ? "Looking…" : "Run the doctor"}</button>
    ${doctor.error && html`<span class="bad" role="alert">${doctor.error.message}</span>`}
    ${doctor.data && html`<span class="muted">${counted(doctor.data.checks.length, "check")}, ${checks.length ? `${count(checks.length)} to look at` : "all well"}</span>`}`;
  const copied = status.backup?.newest_at ? ` · backup ${ago(status.backup.newest_at)}` : "";
  if (!problems.length) return html`<p><span class="ok">✓</span> Everything works<span class="muted">${copied}</span>${look}</p>`;
  return html`
    <ul class="problems">
      ${problems.map(({ what, why, mend }) => html`<li>
        <p><span class="warn" aria-hidden="true">!</span> <b>${what}</b>${why && html` <span class="muted">${why}</span>`}</p>
        ${mend && html`<p class="mend"><code>${mend}</code> <${Copy} text=${mend} label="Copy the command" /></p>`}
      </li>`)}
    </ul>
    <p>${look}</p>
  `;
}
