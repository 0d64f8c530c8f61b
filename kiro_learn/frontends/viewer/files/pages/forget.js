// The dialog before something is forgotten: what goes, what would still say the same, which copies there are.
import { addStyle, html, useEffect, useState } from "../lib/html.js";
import { call, useRoute } from "../lib/api.js";
import { count, counted } from "../lib/format.js";
import { Ask } from "../lib/asking.js";
import { toast } from "../lib/parts.js";

addStyle("pages/memories.css");

const SHOWN = 5;
const TYPED_FROM = 20;
const LEAST_SECRET = 6;

/** Whether a text is long enough to be forgotten wherever it stands. @param {string} text */
export const isSecret = (text) => text.length >= LEAST_SECRET;

/**
 * @param {{selection: {project?: string, whole?: boolean, memories?: string[], secret?: string}, name?: string, onDone: (isMore: boolean) => void, onClose: () => void}} props
 *   `name`: of the project that is forgotten as a whole; `onDone(isMore)`: more may be gone than the memories that were chosen
 */
export function Forget({ selection, name, onDone, onClose }) {
  const [sameWords, setSameWords] = useState(false);
  const [withEvents, setWithEvents] = useState(false);
  const [copies, setCopies] = useState(false);
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [alike, setAlike] = useState(/** @type {any[]} */ ([]));
  const [unread, setUnread] = useState("");
  const backups = useRoute("/v1/status").data?.backup?.copy_count ?? 0;
  const chosen = selection.memories;
  const body = {
    ...selection,
    ...(chosen && sameWords ? { memories: [...chosen, ...alike.map((each) => each.record_id)] } : {}),
    ...(chosen && withEvents ? { with_events: true } : {}),
  };
  useEffect(() => {
    let isLate = false;
    call("POST", "/api/forgetting/preview", body).then(
      (answer) => {
        if (isLate) return;
        setFound(answer);
        if (!sameWords) setAlike(answer.same_words);
      },
      (error) => !isLate && setUnread(error.message),
    );
    return () => void (isLate = true);
  }, [sameWords, withEvents]);
  const total = found?.memories ?? 0;
  const needsNumber = total > TYPED_FROM;
  const isTyped = !needsNumber || typed.replaceAll(",", "").trim() === String(total);
  const isReady = Boolean(found && isTyped && (name || total || found.events || found.graph_items));
  const forget = async () => {
    const done = await call("POST", "/api/forgetting", { ...body, ...(copies ? { delete_copies: true } : {}) });
    const kept = done.copies.length + done.damaged_copies;
    const left = kept ? ` ${counted(kept, "backup")} cannot be changed and may still hold it: kiro-learn backup list` : "";
    const what = `Forgotten: ${counted(done.memories, "memory", "memories")}${done.events ? `, ${counted(done.events, "event")}` : ""}.`;
    toast((name ? `${name} is forgotten.` : what) + left);
    onDone(!chosen || sameWords || withEvents);
  };
  const asked = name ? `Forget all of ${name}?` : `Forget ${chosen ? counted(chosen.length, "memory", "memories") : "this text everywhere"}?`;
  return html`
    <${Ask} title=${asked} word=${name ? "Forget all" : "Forget"} busy="Forgetting…" isReady=${isReady} act=${forget} onClose=${onClose}>
      ${!found && !unread && html`<p class="muted">Looking up what would be forgotten…</p>`}
      ${found && html`<${Goes} ...${{ found, secret: selection.secret, isWithEvents: withEvents || !chosen }} />`}
      ${chosen && alike.length > 0 && html`
        <div>
          <${Choice} is=${sameWords} set=${setSameWords}>Also ${counted(alike.length, "other memory", "other memories")} that ${alike.length === 1 ? "holds" : "hold"} the same words<//>
          <${Titles} memories=${alike} />
        </div>
      `}
      ${chosen && html`<${Choice} is=${withEvents} set=${setWithEvents}>Also the events that ${chosen.length === 1 ? "it" : "they"} came from<//>`}
      ${backups > 0 && html`<${Choice} is=${copies} set=${setCopies}>Delete backups that cannot be changed. It is removed from the others (${count(backups)} in all)<//>`}
      ${needsNumber && html`
        <label class="typed">Type ${total} to go on <input inputmode="numeric" autocomplete="off" value=${typed} onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} /></label>
      `}
      ${unread && html`<p class="bad" role="alert">${unread}</p>`}
      <p class="strong">This cannot be undone.</p>
    <//>
  `;
}

/** @param {{is: boolean, set: (is: boolean) => void, children?: any}} props */
const Choice = ({ is, set, children }) => html`<label><input type="checkbox" checked=${is} onChange=${() => set(!is)} />${children}</label>`;

/** @param {{found: any, secret?: string, isWithEvents: boolean}} props */
function Goes({ found, secret, isWithEvents }) {
  const parts = [
    counted(found.memories, "memory", "memories"),
    found.replaced && `${count(found.replaced)} in ${found.memories === 1 ? "its" : "their"} history`,
    found.events && counted(found.events, "event"),
    found.graph_items && counted(found.graph_items, "item of the graph", "items of the graph"),
  ].filter(Boolean);
  return html`
    <div>
      <p>${parts.join(", ")} ${found.memories === 1 && parts.length === 1 ? "is" : "are"} forgotten everywhere, with what ${found.memories === 1 ? "it" : "they"} replaced${secret ? html`: all that holds <q>${secret}</q>` : ""}.</p>
      <${Titles} memories=${found.shown} all=${found.memories} />
      ${!isWithEvents && html`<p class="muted">The events stay.</p>`}
    </div>
  `;
}

/** @param {{memories: any[], all?: number}} props */
const Titles = ({ memories, all = memories.length }) => html`
  <ul class="titles">
    ${memories.slice(0, SHOWN).map((each) => html`<li key=${each.record_id}>${each.title}</li>`)}
    ${all > SHOWN && html`<li class="muted">and ${count(all - SHOWN)} more</li>`}
  </ul>
`;
