// The settings as they are and where each comes from, read-only; and those of this browser.
import { addStyle, html, useState } from "../lib/html.js";
import { useRoute } from "../lib/api.js";
import { areKeysOn, switchKeys } from "../lib/keys.js";
import { href } from "../lib/nav.js";
import { chooseTheme, chosenTheme } from "../lib/theme.js";
import { Box, Chip, Copy } from "../lib/parts.js";

addStyle("pages/settings.css");

const THEMES = [["", "as the system"], ["light", "light"], ["dark", "dark"]];

/** What each section is about. @type {Record<string, string>} */
const SECTIONS = {
  server: "Where the daemon listens",
  storage: "The database",
  recall: "What agents are told",
  search: "How results are scored",
  learning: "How events become memories",
  reconciliation: "Memories that say the same",
  compaction: "When too many events wait",
  graph: "The graph",
  retention: "What is removed by age",
  backup: "Daily copies",
  share: "What is shared with a team",
  llm: "Which model words the memories",
  embedding: "Finding by meaning",
  log: "The log",
};

/** @typedef {{key: string, value: any, default: any, origin: string, variable: string, line: number}} Setting */

/** @param {any} value */
const written = (value) => (value === "" ? '""' : String(value));
/** @param {string} text */
const quoted = (text) => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** @param {import("../lib/nav.js").PageProps} props */
export default function Page({ query, setQuery }) {
  const route = useRoute("/api/settings");
  const isChanged = query.changed === "1";
  const actions = html`
    <${Chip} pressed=${isChanged} onClick=${() => setQuery({ changed: isChanged ? null : "1" })}>only what is not default<//>
    <input type="search" aria-label="Find a setting" placeholder="Find a setting" value=${query.find ?? ""} onInput=${(/** @type {any} */ event) => setQuery({ find: event.target.value || null }, { replace: true })} />
  `;
  return html`
    <${Browser} />
    <${Box} title="Settings of the daemon" route=${route} actions=${actions}>
      ${(/** @type {{settings: Setting[]}} */ data) => html`<${Sections} settings=${chosen(data.settings, query.find ?? "", isChanged)} />`}
    <//>
  `;
}

/** @param {Setting[]} settings @param {string} text @param {boolean} isChanged */
function chosen(settings, text, isChanged) {
  const wanted = text.toLowerCase();
  return settings.filter((each) => each.key.includes(wanted) && (!isChanged || each.value !== each.default));
}

/** @param {{settings: Setting[]}} props */
function Sections({ settings }) {
  const names = [...new Set(settings.map((each) => each.key.split(".")[0]))];
  return html`
    <p class="muted">The daemon reads them at its start. After a change: <code>kiro-learn restart</code></p>
    ${names.length === 0 && html`<p class="muted none">No setting fits.</p>`}
    ${names.map((name) => html`
      <section class="settings-section" aria-label=${name}>
        <h3><code>[${name}]</code> ${SECTIONS[name] ?? ""}</h3>
        <table class="settings">
          <thead class="hidden"><tr><th>Setting</th><th>Value</th><th>From</th><th>Copy</th></tr></thead>
          <tbody>${settings.filter((each) => each.key.startsWith(`${name}.`)).map((each) => html`<${Row} setting=${each} />`)}</tbody>
        </table>
      </section>
    `)}
  `;
}

/** @param {{setting: Setting}} props */
function Row({ setting }) {
  const { key, value, origin } = setting;
  const command = `kiro-learn config set ${key} ${quoted(String(value))}`;
  return html`
    <tr class=${origin}>
      <th scope="row"><code>${key.split(".")[1]}</code></th>
      <td class="value"><code>${written(value)}</code>${" "}${origin !== "default" && value !== setting.default && html`<span class="muted small">default ${written(setting.default)}</span>`}</td>
      <td class=${origin === "default" ? "from muted" : "from"}>${placeOf(setting)}</td>
      <td class="act"><${Copy} text=${command} label="Copy: ${command}" /></td>
    </tr>
  `;
}

/** @param {Setting} setting */
function placeOf({ origin, line, variable }) {
  if (origin === "file") return html`<code>settings.toml${line ? `:${line}` : ""}</code>`;
  if (origin === "option") return html`<code>--port</code>`;
  return origin === "variable" ? html`<code>${variable}</code>` : "default";
}

function Browser() {
  const [isOn, setOn] = useState(areKeysOn());
  const [theme, setTheme] = useState(chosenTheme());
  const choose = (/** @type {string} */ wanted) => (setTheme(wanted), chooseTheme(wanted));
  const onKeys = (/** @type {any} */ event) => (switchKeys(event.target.checked), setOn(event.target.checked));
  return html`
    <section class="box" aria-labelledby="this-browser">
      <header><h2 id="this-browser">This browser</h2></header>
      <div class="content choices">
        <fieldset><legend class="muted">Theme</legend>
          ${THEMES.map(([value, word]) => html`<label><input type="radio" name="theme" value=${value} checked=${theme === value} onChange=${() => choose(value)} />${word}</label>`)}
        </fieldset>
        <label><input type="checkbox" checked=${isOn} onChange=${onKeys} />Single keys, such as <kbd>j</kbd>, <kbd>t</kbd> and <kbd>?</kbd></label>
        <p><a href=${href("brief")}>See the brief that a session gets</a>, with other settings than these.</p>
      </div>
    </section>
  `;
}
