// What is done at a press of a button, and may be refused.
import { ApiError } from "./api.js";
import { html, useRef, useState } from "./html.js";
import { isChanged, useForm } from "./nav.js";
import { Dialog, toast } from "./parts.js";

/** What the daemon says of its refusal. @param {unknown} error what is none is thrown on */
function refusal(error) {
  if (!(error instanceof ApiError)) throw error;
  return `Not done: ${error.message}.${error.hint ? ` ${error.hint}` : ""}`;
}

/** Do something to the store; what it refuses is said in a toast, and null is the answer. @param {() => Promise<any>} action */
export const attempt = (action) => action().catch((error) => (toast(refusal(error)), null));

/** Something that is done at a press of a button; what is refused is the `problem`. @param {() => Promise<any>} act */
export function useAct(act) {
  const [state, setState] = useState({ isBusy: false, problem: "" });
  const run = (/** @type {Event} */ event) => {
    event.preventDefault();
    setState({ isBusy: true, problem: "" });
    act().then(() => "", refusal).then((problem) => setState({ isBusy: false, problem }));
  };
  return { ...state, run };
}

/** The fields of a correction; the word of a list ends with "one a line". @param {{fields: [string, string, number][], of: any}} props names, words and rows */
export const Fields = ({ fields, of }) => fields.map(([name, word, rows]) => {
  const given = { name, autocomplete: "off", defaultValue: [of[name] ?? ""].flat().join("\n"), "data-list": word.endsWith("one a line") || undefined };
  return html`<label key=${name} class="field"><span>${word}</span>${rows ? html`<textarea rows=${rows} ...${given}></textarea>` : html`<input required ...${given} />`}</label>`;
});

/** What the fields say that were changed; null if none was. @param {HTMLFormElement} form */
export function typedIn({ elements }) {
  const changed = /** @type {any[]} */ ([...elements].filter(isChanged));
  return changed.length ? Object.fromEntries(changed.map(({ name, value, dataset }) => [name, dataset.list ? linesOf(value) : value])) : null;
}

/** @param {string} text */
const linesOf = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** A dialog whose button does something. @param {{title: string, word: string, busy?: string, kind?: string, isReady?: boolean, act: () => Promise<any>, onClose: () => void, children: any, others?: any, form?: any}} props */
export function Ask({ title, word, busy = word, kind = "danger", isReady = true, act, onClose, children, others, form }) {
  const { isBusy, problem, run } = useAct(act);
  const none = useRef(null);
  const unsaved = useForm(form ?? none);
  const actions = html`${others}<button class=${kind} disabled=${!isReady || isBusy} onClick=${run}>${isBusy ? busy : word}</button>`;
  return html`
    <${Dialog} ...${{ title, actions }} onClose=${() => unsaved(onClose)}>
      <form class="stack" ref=${form} onSubmit=${(/** @type {Event} */ event) => (isReady && !isBusy ? run(event) : event.preventDefault())}>${children}</form>
      ${problem && html`<p class="bad" role="alert">${problem}</p>`}
    <//>
  `;
}
