// What a project is built of, what contradicts each other, and what is remembered as a graph.
import { addStyle, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib/html.js";
import { address, call, useRoute } from "../lib/api.js";
import { Ask, Fields, typedIn } from "../lib/asking.js";
import { count, counted } from "../lib/format.js";
import { useKeys } from "../lib/keys.js";
import { useLive } from "../lib/live.js";
import { Choose, Few, Id, List, Panel } from "../lib/lists.js";
import { EventLink, projectIn, SAYS_SO } from "../lib/memory.js";
import { href, leave } from "../lib/nav.js";
import { Box, Dialog, Empty, Time, toast } from "../lib/parts.js";
import { Conflicts } from "./conflicts.js";
import { degree, graphOf, KINDS } from "./graph_model.js";
import { drawGraph, drawer } from "./graph_view.js";

addStyle("pages/graph.css");

/** @typedef {import("./graph_model.js").Graph} Graph */
/** @typedef {import("./graph_model.js").GraphNode} GraphNode */
/** @typedef {import("../lib/nav.js").PageProps} PageProps */
/** @typedef {{id: string, project: string}} Meant */

const MOST_NODES = 5000;
const MOST_IN_SOFTWARE = 2000;
const MOST_LISTED = 100;
const FEW_LISTED = 8;

/** @param {PageProps} props */
export default function Page({ query, setQuery, project, projects }) {
  const renderer = useMemo(drawer, []);
  const [item, setItem] = useState(/** @type {Meant | null} */ (null));
  const [changes, setChanges] = useState(0);
  const shown = (query.show ?? (project ? "memories,concepts,entities" : "projects,memories,concepts")).split(",").filter((each) => each in KINDS);
  const limit = query.limit ?? String(renderer === "software" ? MOST_IN_SOFTWARE : MOST_NODES);
  const picture = useRoute("/api/graph/picture", { project: project?.namespace, show: shown.join(","), limit });
  const conflicts = useRoute(project && "/api/conflicts", { project: project?.namespace }, changes);
  useLive("learned", (event) => event.kind === "gap" && picture.reload());
  const changed = () => (setItem(null), setChanges((old) => old + 1), picture.reload());
  const known = { project, changes, onOpen: setItem };
  return html`
    ${project ? html`<${Profile} ...${known} /><${Conflicts} route=${conflicts} onChanged=${changed} />` : html`<${Choose} projects=${projects} page="graph" />`}
    <${Picture} ...${{ query, setQuery, project, picture, shown, renderer }} onOpen=${setItem} changes=${changes} />
    ${item && html`<${ItemDialog} key=${item.id} ...${item} onClose=${() => setItem(null)} onChanged=${changed} />`}
  `;
}

/** @param {{project: {name: string, namespace: string}, changes: number, onOpen: (item: Meant) => void}} props */
function Profile({ project, changes, onOpen }) {
  const asked = { project: project.namespace };
  const files = useRoute("/api/profile", asked);
  const said = ["facts", "preferences", "procedures"].map((kind) => useRoute("/api/graph", { ...asked, kind }, changes));
  const all = [files, ...said];
  const data = all.every((each) => each.data) ? { ...files.data, said: said.flatMap((each) => each.data.items) } : null;
  const route = { data, error: all.find((each) => each.error)?.error ?? null, loading: all.some((each) => each.loading), reload: () => all.forEach((each) => each.reload()) };
  const empty = (/** @type {any} */ data) =>
    data.facts.length || data.said.length ? null : html`No manifest of this project is known, and no fact was stated about it. <code>kiro-learn facts add</code>`;
  return html`
    <${Box} title="Profile of ${project.name}" ...${{ route, empty }}>
      ${(/** @type {any} */ data) => html`
        <div class="profile">
          ${data.facts.length > 0 && html`<${FromFiles} facts=${data.facts} />`}
          ${data.said.length > 0 && html`<${Said} items=${data.said} onOpen=${(/** @type {string} */ id) => onOpen({ id, project: project.namespace })} />`}
        </div>
      `}
    <//>
  `;
}

/** @param {{facts: any[]}} props */
function FromFiles({ facts }) {
  const slots = [...new Set(facts.map((fact) => fact.slot))];
  return html`
    <dl class="slots">
      ${slots.map((slot) => html`
        <div>
          <dt>${slot}</dt>
          ${facts.filter((fact) => fact.slot === slot).map(({ value, source, runs }) => html`
            <dd>${value} <${Source} of=${source} />${runs && html`<${Runs} ...${runs} />`}</dd>
          `)}
        </div>
      `)}
    </dl>
  `;
}

/** @param {{of: string}} props */
const Source = ({ of }) =>
  of.startsWith("said ") ? html`<span class="note muted">you ${of}</span>`
  : of.startsWith("event ") ? html`<${EventLink} id=${of.slice(6)} />` : html`<code class="note muted">${of}</code>`;

/** @param {{succeeded: number, failed: number, last_at: string, last_event: string}} props */
const Runs = ({ succeeded, failed, last_at: at, last_event: event }) => html`
  <span class="note muted"> · ran <${EventLink} id=${event}>${count(succeeded + failed)}×<//>${failed > 0 && html`, ${count(failed)} failed`}, last <${Time} at=${at} /></span>
`;

/** @param {{items: any[], onOpen: (id: string) => void}} props */
function Said({ items, onOpen }) {
  return html`
    <section>
      <h3>Stated and learned</h3>
      <${Few} items=${items}>${(/** @type {any[]} */ shown) => html`<ul class="said">
        ${shown.map((each) => html`
          <li>
            <button class="plain" onClick=${() => onOpen(each.id)}>${textOf(each)}</button>
            <span class="note muted">${SAYS_SO[each.source_type]} · <${Time} at=${each.last_confirmed_at ?? each.created_at} /></span>
          </li>
        `)}
      </ul>`}<//>
    </section>
  `;
}

/** @param {any} item of the graph @returns {string} */
const textOf = (item) =>
  item.kind === "facts" ? `${item.subject} ${item.predicate.replaceAll("_", " ")} ${item.object}`
  : item.kind === "preferences" ? `${item.category}: ${item.value}`
  : item.kind === "procedures" ? `${item.name}: ${item.steps.join(" → ")}`
  : item.name;

/** One fact, wish, way or thing: who says so, corrected or forgotten. @param {Meant & {onClose: () => void, onChanged: () => void}} props */
function ItemDialog({ id, project, onClose, onChanged }) {
  const { data: item, error } = useRoute("/api/graph/item", { project, id });
  const [isLast, setLast] = useState(false);
  const form = useRef(/** @type {any} */ (null));
  const done = (/** @type {string} */ text) => (toast(text), onChanged());
  const save = async () => {
    const correction = typedIn(form.current);
    if (!correction) return onClose();
    await call("POST", "/api/graph/item", { project, id, correction });
    done("Corrected");
  };
  const forget = async () => {
    await call("DELETE", address("/api/graph/item", { project, id }));
    done("Forgotten");
  };
  if (error) return html`<${Dialog} title="Not there" onClose=${onClose} cancel="Close"><p>${error.message}</p><//>`;
  if (!item) return null;
  if (isLast) {
    return html`
      <${Ask} key="last" title="Forget this?" word="Forget" act=${forget} onClose=${() => setLast(false)}>
        <p class="strong">${textOf(item)}</p>
        <p>It is forgotten everywhere${item.kind === "entities" && ", with its facts and relationships"}. This cannot be undone.</p>
      <//>
    `;
  }
  const others = html`<button class="danger" onClick=${() => leave(() => setLast(true))}>Forget…</button>`;
  return html`
    <${Ask} key="item" title=${textOf(item)} word="Save" kind="primary" act=${save} onClose=${onClose} others=${others} form=${form}>
      <p class="note muted">${SAYS_SO[item.source_type] ?? item.type} · <${Time} at=${item.last_confirmed_at ?? item.last_referenced ?? item.created_at} /> · <${Id} id=${id} /></p>
      <${Fields} fields=${FIELDS[item.kind]} of=${item} />
      ${item.evidence.length > 0 && html`
        <h3>Learned from</h3>
        <ul class="said">${item.evidence.slice(-FEW_LISTED).map((/** @type {any} */ each) => html`
          <li>${each.source_type === "corrected" ? "by hand" : html`<${EventLink} id=${each.event_id}>${each.says === "holds" ? "event" : "event that ends it"}<//>`} <span class="note muted">${SAYS_SO[each.source_type]} · <${Time} at=${each.observed_at} /></span></li>
        `)}</ul>
      `}
    <//>
  `;
}

/** Of each kind, what can be corrected. @type {Record<string, [string, string, number][]>} */
const FIELDS = {
  facts: [["object", "What it says", 0]],
  preferences: [["value", "What you want", 0]],
  procedures: [["steps", "Steps, one a line", 4]],
  entities: [["description", "What it is", 2], ["aliases", "Other names, one a line", 4]],
};

/** @param {PageProps & {picture: any, shown: string[], renderer: string, onOpen: (item: Meant) => void, changes: number}} props */
function Picture({ query, setQuery, project, picture, shown, renderer, onOpen, changes }) {
  const narrow = useMemo(() => matchMedia("(max-width: 640px)").matches, []);
  const isList = renderer === "none" || (query.view ? query.view === "list" : narrow);
  const graph = useMemo(() => (picture.data ? graphOf(picture.data, query.near) : null), [picture.data, query.near]);
  const view = useRef(/** @type {any} */ (null));
  const toggle = (/** @type {string} */ kind) => setQuery({ show: (shown.includes(kind) ? shown.filter((each) => each !== kind) : [...shown, kind]).join(","), near: null });
  const open = (/** @type {string | null} */ id, comes = true) => {
    setQuery({ open: id });
    view.current?.choose(id, comes);
  };
  useKeys(isList ? {} : { "+": () => view.current?.zoom(0.7), "=": () => view.current?.zoom(0.7), "-": () => view.current?.zoom(1.4), 0: () => view.current?.fit() });
  const actions = graph && graph.nodes.length > 0 && html`
    <${Find} graph=${graph} onFind=${open} />
    ${renderer !== "none" && html`<button aria-pressed=${String(isList)} onClick=${() => setQuery({ view: isList ? "picture" : "list" })}>As list</button>`}
    ${!isList && html`<button title="Fit (0)" onClick=${() => view.current?.fit()}>Fit</button>`}
  `;
  const nothing = picture.data && nothingJoined(picture.data, shown);
  const [node, around] = [graph?.byId.get(query.open), graph?.byId.get(query.near)];
  return html`
    <div class="drawing ${isList ? "as-list" : ""}">
      <div class="split">
        <${Box} title="Graph" route=${picture} actions=${actions}>
          ${() => graph && html`
            <div class="filters gap">
              ${Object.keys(KINDS).filter((kind) => !(project && kind === "projects")).map((kind) => html`<label><input type="checkbox" checked=${shown.includes(kind)} disabled=${String(shown) === kind} onChange=${() => toggle(kind)} /><i class="dot ${kind}"></i>${KINDS[kind][1]}</label>`)}
              ${around && html`<button class="chip" onClick=${() => setQuery({ near: null })}>Only around ${around.label} · show all</button>`}
            </div>
            ${nothing ? html`<${Empty}>${nothing}<//>` : isList ? html`<${AsList} ...${{ graph, open }} opened=${query.open} />` : html`<${Canvas} ...${{ graph, view, open }} opened=${query.open} />`}
            <p class="note muted gap">${tellCounts(graph, picture.data.left_out, isList)}${renderer === "software" && !isList && !query.limit && picture.data.nodes.length >= MOST_IN_SOFTWARE && ` This browser draws without a graphics card, so at most ${count(MOST_IN_SOFTWARE)} are drawn; As list is quicker.`}</p>
          `}
        <//>
        ${node && graph && html`<${NodePanel} key=${node.id} ...${{ node, graph, open, setQuery, onOpen, changes }} />`}
      </div>
    </div>
  `;
}

/** What is shown instead where nothing would be joined. @param {{nodes: GraphNode[], links: any[]}} data @param {string[]} shown */
function nothingJoined({ nodes, links }, shown) {
  if (!shown.includes("memories")) return nodes.length ? null : "Nothing of the kinds that are chosen is here.";
  const have = nodes.filter((node) => node.kind === "memories").length;
  return links.length || have > 1 || nodes.length > have ? null : `A graph needs 2 memories that share a concept. You have ${have}.`;
}

/** @param {Graph} graph @param {Record<string, number>} leftOut @param {boolean} isList */
function tellCounts({ nodes, links }, leftOut, isList) {
  const out = Object.entries(leftOut).map(([kind, many]) => counted(many, ...(KINDS[kind] ?? ["link", "links"])));
  const how = isList ? "" : " · links appear on hover, on a choice, or below 1,500 in view";
  return `${counted(nodes.length, "node")}, ${counted(links.length, "link")}${how}.${out.length ? ` Not here: ${out.join(", ")}.` : ""}`;
}

/** @param {{graph: Graph, onFind: (id: string) => void}} props */
function Find({ graph, onFind }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const found = wanted ? graph.nodes.filter((node) => node.label.toLowerCase().includes(wanted)).slice(0, FEW_LISTED) : [];
  const choose = (/** @type {string} */ id) => (setText(""), onFind(id));
  return html`
    <form class="find" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), found[0] && choose(found[0].id))}>
      <input type="search" aria-label="Find a node" placeholder="Find a node" autocomplete="off" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
      ${wanted && html`<ul class="found">${found.length ? found.map((node) => html`<li><button type="button" class="plain" onClick=${() => choose(node.id)}><i class="dot ${node.kind}"></i>${node.label}</button></li>`) : html`<li class="muted">No node has this name.</li>`}</ul>`}
    </form>
  `;
}

/** @param {{graph: Graph, view: {current: any}, open: (id: string | null, comes?: boolean) => void, opened: string | undefined}} props */
function Canvas({ graph, view, open, opened }) {
  const place = useRef(/** @type {any} */ (null));
  const [joined, alone] = useMemo(() => [graph.nodes.filter((node) => degree(graph, node)), graph.nodes.filter((node) => !degree(graph, node))], [graph]);
  useLayoutEffect(() => {
    if (!joined.length) return undefined;
    let isGone = false;
    drawGraph(place.current, graph, joined, (id) => open(id, false)).then((drawn) => {
      if (isGone) return drawn?.end();
      view.current = drawn;
      if (opened) drawn?.choose(opened);
    });
    return () => {
      isGone = true;
      view.current?.end();
      view.current = null;
    };
  }, [graph]);
  useEffect(() => void view.current?.choose(opened ?? null), [opened]);
  /** @type {Record<string, [number, number]>} */
  const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    view.current?.pan(...steps[event.key]);
  };
  // The wheel scrolls the page until somebody works with the picture.
  const onWheelCapture = (/** @type {WheelEvent} */ event) => !event.ctrlKey && !place.current.parentElement.contains(document.activeElement) && event.stopPropagation();
  const canvas = () => html`
    <div class="canvas" tabindex="0" role="group" aria-label="Picture of ${counted(joined.length, "node")}. Arrows move, + and − zoom, 0 fits. As list has the same." onKeyDown=${onKeyDown} onWheelCapture=${onWheelCapture}>
      <div class="sigma" ref=${place}></div>
    </div>
  `;
  return html`
    ${joined.length ? canvas() : html`<${Empty}>No node is linked to another. Memories are linked by what they share, such as a concept.<//>`}
    ${alone.length > 0 && html`
      <details class="tray gap" open=${!joined.length}>
        <summary>${counted(alone.length, "node")} without links</summary>
        <div class="chips">${alone.slice(0, MOST_LISTED).map((node) => html`<button class="chip" onClick=${() => open(node.id)}><i class="dot ${node.kind}"></i>${node.label}</button>`)}${alone.length > MOST_LISTED && html`<span class="muted">and ${count(alone.length - MOST_LISTED)} more: As list shows all.</span>`}</div>
      </details>
    `}
  `;
}

/** @param {{graph: Graph, open: (id: string) => void, opened: string | undefined}} props */
function AsList({ graph, open, opened }) {
  const rows = useMemo(() => [...graph.nodes].sort((one, other) => degree(graph, other) - degree(graph, one)), [graph]);
  const row = (/** @type {GraphNode} */ node) => html`
    <span class="cut strong"><i class="dot ${node.kind}"></i>${node.label}</span>
    <span class="cut note muted">${whatItIs(node)} · ${counted(degree(graph, node), "link")}${degree(graph, node) > 0 && `: ${(graph.near.get(node.id) ?? []).slice(0, 5).map((each) => each.node.label).join(", ")}`}</span>
  `;
  return html`<div class="nodes"><${List} label="Nodes" ...${{ rows, row }} selected=${opened ?? null} onOpen=${(/** @type {GraphNode} */ node) => open(node.id)} /></div>`;
}

/** @param {{node: GraphNode, graph: Graph, open: (id: string | null) => void, setQuery: PageProps["setQuery"], onOpen: (item: Meant) => void, changes: number}} props */
function NodePanel({ node, graph, open, setQuery, onOpen, changes }) {
  const near = graph.near.get(node.id) ?? [];
  const project = node.namespace ? graph.byId.get(node.namespace)?.label : null;
  const actions = html`
    <a class="button" href=${inMemories(node)}>Open in Memories</a>
    <button onClick=${() => setQuery({ near: node.id })}>Only this neighbourhood</button>
    ${node.kind === "entities" && html`<button onClick=${() => onOpen({ id: node.id, project: node.namespace ?? "" })}>Correct…</button>`}
  `;
  return html`
    <${Panel} title=${node.label} onClose=${() => open(null)} actions=${actions}>
      <p class="muted">${[whatItIs(node), project].filter(Boolean).join(" · ")}${node.at && html` · <${Time} at=${node.at} />`} · ${counted(near.length, "link")}</p>
      ${node.kind === "entities" && html`<${FactsOf} node=${node} ...${{ onOpen, changes }} />`}
      ${Object.entries(KINDS).map(([kind, [, many]]) => html`<${Linked} key=${kind} title=${many} near=${near.filter((each) => each.node.kind === kind)} open=${open} />`)}
      ${!near.length && html`<${Empty}>It has no link to a node that is shown.<//>`}
    <//>
  `;
}

/** @param {GraphNode} node */
const whatItIs = (node) => [KINDS[node.kind][0], node.type?.replaceAll("_", " ")].filter(Boolean).join(", ");

/** @param {GraphNode} node */
function inMemories(node) {
  const project = node.namespace ? { project: projectIn(node.namespace) } : {};
  if (node.kind === "memories") return href("memories", { ...project, open: node.id });
  if (node.kind === "projects") return href("memories", project);
  return href("memories", { ...project, [node.kind === "files" ? "file" : node.kind === "concepts" ? "concept" : "q"]: node.label });
}

/** @param {{node: GraphNode, onOpen: (item: Meant) => void, changes: number}} props */
function FactsOf({ node, onOpen, changes }) {
  const { data } = useRoute("/api/graph", { project: node.namespace ?? "", kind: "facts", text: node.label }, changes);
  const facts = (data?.items ?? []).filter((/** @type {any} */ fact) => fact.entity_id === node.id);
  return facts.length ? html`<${Said} items=${facts} onOpen=${(/** @type {string} */ id) => onOpen({ id, project: node.namespace ?? "" })} />` : null;
}

/** @param {{title: string, near: import("./graph_model.js").Neighbour[], open: (id: string) => void}} props */
function Linked({ title: kind, near, open }) {
  if (!near.length) return null;
  return html`
    <section>
      <h3>${counted(near.length, ...KINDS[kind])}</h3>
      <${Few} items=${near}>${(/** @type {import("./graph_model.js").Neighbour[]} */ shown) => html`<ul class="said">
        ${shown.map(({ node, says, count: many, isFrom }) => html`
          <li><button class="plain" onClick=${() => open(node.id)}><i class="dot ${node.kind}"></i>${node.label}</button>${says && html`<span class="note muted">${isFrom ? "" : "← "}${says.replaceAll("_", " ")}</span>`}${many > 1 && html`<span class="note muted">${count(many)} memories</span>`}</li>
        `)}
      </ul>`}<//>
    </section>
  `;
}
