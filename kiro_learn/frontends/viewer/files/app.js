// Boot: the rail, the top bar, and the page that the address names.
import { html, render, useEffect, useErrorBoundary, useMemo, useRef, useState } from "./lib/html.js";
import { noAnswer, useRoute } from "./lib/api.js";
import { useKeys } from "./lib/keys.js";
import { connect, liveState, useLive } from "./lib/live.js";
import { discard, go, href, leaving, onLinkClick, place, setQuery, short } from "./lib/nav.js";
import { Box, Dialog, Icon, Toasts } from "./lib/parts.js";
import { toggleTheme } from "./lib/theme.js";

/** Name, word, and the key after `g`. @type {[string, string, string][]} */
const PAGES = [
  ["overview", "Overview", "o"],
  ["memories", "Memories", "m"],
  ["sessions", "Sessions", "s"],
  ["graph", "Graph", "g"],
  ["retrievals", "Retrievals", "r"],
  ["brief", "Brief", "b"],
  ["projects", "Projects", "p"],
  ["settings", "Settings", ","],
];
const IN_BOTTOM_BAR = ["overview", "memories", "sessions", "retrievals"];
const KEYS = [
  ["/", "search"],
  ["g, then o m s g r b p ,", "go to a page"],
  ["j k or arrows", "next, previous row"],
  ["Enter, Esc", "open, close"],
  ["x", "choose"],
  ["e p u", "edit, pin, undo"],
  ["#", "forget…"],
  ["h w", "helped, wrong"],
  ["t", "light or dark"],
  ["?", "this list"],
];

/** @typedef {import("./lib/nav.js").Project} Project */

function App() {
  const { page, query } = place.use();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { word, isLive } = liveState.use();
  const stats = useRoute("/v1/stats");
  const projects = /** @type {Project[]} */ (useMemo(() => (stats.data?.projects ?? []).map(named), [stats.data]));
  const project = projects.find((each) => query.project && each.project_id.startsWith(query.project)) ?? null;
  useLive("learned", ({ namespace }) => namespace && !projects.some((each) => each.namespace === namespace) && stats.reload());
  const nameOf = (/** @type {string} */ namespace) => (project ? "" : (projects.find((each) => each.namespace === namespace)?.name ?? ""));
  const isReady = !query.project || stats.data !== null;
  useEffect(() => void (isLive && stats.error && stats.reload()), [isLive]);
  const search = useRef(/** @type {any} */ (null));
  const jumps = Object.fromEntries(PAGES.map(([name, , key]) => [`g ${key}`, () => go(href(name))]));
  useKeys({ ...jumps, t: toggleTheme, "?": () => setHelpOpen(true), "/": () => search.current.focus() });
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <${Rail} page=${page} />
    <header class="top">
      <h1>${titleOf(page)}</h1>
      <select aria-label="Project" title="Project" value=${project ? short(project) : ""} onChange=${(/** @type {any} */ event) => setQuery({ open: null, session: null, of: null, event: null, memory: null, near: null, project: event.target.value || null })}>
        <option value="">All projects</option>
        ${projects.map((each) => html`<option value=${short(each)}>${each.name}</option>`)}
      </select>
      <${Search} input=${search} page=${page} q=${page === "memories" ? (query.q ?? "") : ""} />
      <span class="live ${isLive ? "on" : ""}"><i></i><span>${word}</span></span>
      <button class="plain" aria-label="Light or dark" title="Light or dark (t)" onClick=${toggleTheme}><${Icon} name="theme" /></button>
    </header>
    <main id="main" tabindex="-1">${isReady ? html`<${PageLoader} key=${page} page=${page} ...${{ query, setQuery, project, projects, nameOf, onProjects: stats.reload }} />` : stats.error && html`<div class="page"><${Box} title="Projects" route=${stats} /></div>`}</main>
    ${isHelpOpen && html`<${Help} onClose=${() => setHelpOpen(false)} />`}
    ${leaving.use() && html`
      <${Dialog} title="Discard what you typed?" onClose=${() => leaving.set(null)} cancel="Keep editing" actions=${html`<button class="danger" onClick=${discard}>Discard</button>`}>
        <p>It is not saved.</p>
      <//>
    `}
    <${Toasts} />
  `;
}

/** @param {any} each of /v1/stats @returns {Project} */
const named = ({ display_name, namespace, project_id }) => ({ name: display_name.split("/").pop() || display_name, namespace, project_id });
/** @param {string} page */
const titleOf = (page) => PAGES.find(([name]) => name === page)?.[1] ?? "Not here";

/** @param {{page: string}} props */
function Rail({ page }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [page]);
  return html`
    <nav class="rail ${isOpen ? "open" : ""}" aria-label="Pages">
      ${PAGES.map(([name, word, key]) => html`
        <a href=${href(name)} class=${IN_BOTTOM_BAR.includes(name) ? "" : "rare"} title="${word} (g ${key})" aria-current=${name === page ? "page" : undefined}><${Icon} name=${name} /><span>${word}</span></a>
      `)}
      <button class="plain more" aria-current=${IN_BOTTOM_BAR.includes(page) ? undefined : "true"} aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}><${Icon} name="more" /><span>More</span></button>
    </nav>
  `;
}

/** @param {{input: any, page: string, q: string}} props */
function Search({ input, page, q }) {
  useEffect(() => void (input.current.value = q), [page, q]);
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = input.current.value.trim();
    input.current.blur(); // the first result takes the focus
    if (page === "memories") setQuery({ q: text || null, open: null });
    else go(href("memories", { q: text }));
  };
  return html`
    <form class="search" role="search" onSubmit=${onSubmit}>
      <input ref=${input} type="search" placeholder="Search memories" aria-label="Search memories" title="Search memories (/)" autocomplete="off" spellcheck=${false} />
    </form>
  `;
}

/** @param {{onClose: () => void}} props */
const Help = ({ onClose }) => html`
  <${Dialog} title="Keys" onClose=${onClose} cancel="Close">
    <dl class="keys">${KEYS.map(([keys, what]) => html`<dt><kbd>${keys}</kbd></dt><dd>${what}</dd>`)}</dl>
    <p class="muted">A switch in <a href=${href("settings")} onClick=${onClose}>Settings</a> turns single keys off.</p>
  <//>
`;

/** @param {{page: string} & import("./lib/nav.js").PageProps} props */
function PageLoader({ page, ...given }) {
  const [loaded, setLoaded] = useState(/** @type {any} */ (null));
  const [broken] = useErrorBoundary((/** @type {Error} */ error) => console.error(error));
  useEffect(() => {
    if (!PAGES.some(([name]) => name === page)) return setLoaded({});
    import(`./pages/${page}.js`).then(setLoaded, () => setLoaded({ error: noAnswer() }));
  }, []);
  const title = titleOf(page);
  useEffect(() => void (document.title = [title, given.project?.name, "kiro_learn"].filter(Boolean).join(" · ")), [title, given.project]);
  if (broken) return html`<p class="alone">The viewer cannot show this page: ${String(broken)}</p>`;
  if (!loaded) return null;
  // A document never asks again for a module that it could not get.
  if (loaded.error) return html`<div class="page"><${Box} title=${title} route=${{ ...loaded, data: null, loading: false, reload: () => location.reload() }} /></div>`;
  if (!loaded.default) return html`<p class="alone">This page is not here. <a href=${href("overview")}>Overview</a></p>`;
  return html`<div class="page ${page}"><${loaded.default} ...${given} /></div>`;
}

document.addEventListener("click", onLinkClick);
render(html`<${App} />`, /** @type {Element} */ (document.getElementById("app")));
if (!document.hidden) connect();
