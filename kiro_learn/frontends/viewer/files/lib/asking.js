// @ts-check
// What is done at a press of a button, and may be refused.
import { html, useState } from "./html.js";
import { Dialog, refusal } from "./parts.js";

/** @typedef {any} Node what a template or a child is */

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

/** A dialog whose button does something. @param {{title: string, word: string, busy?: string, kind?: string, isReady?: boolean, act: () => Promise<any>, onClose: () => void, children: Node, others?: Node, form?: any}} props */
export function Ask({ title, word, busy = word, kind = "danger", isReady = true, act, onClose, children, others, form }) {
  const { isBusy, problem, run } = useAct(act);
  const actions = html`${others}<button class=${kind} disabled=${!isReady || isBusy} onClick=${run}>${isBusy ? busy : word}</button>`;
  return html`
    <${Dialog} ...${{ title, onClose, actions }}>
      <form class="stack" ref=${form} onSubmit=${(/** @type {Event} */ event) => (isReady && !isBusy ? run(event) : event.preventDefault())}>${children}</form>
      ${problem && html`<p class="bad" role="alert">${problem}</p>`}
    <//>
  `;
}
