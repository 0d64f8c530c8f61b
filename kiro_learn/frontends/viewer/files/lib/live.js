// @ts-check
// What happens now: one EventSource for the tab, at most, while somebody listens and the tab is seen.
import { useEffect, useRef, useState } from "./html.js";

const ROUTE = "/v1/live";
const KINDS = ["learned", "retrieval", "status"];
const MOST_SECONDS = 30;
const HIDDEN_SECONDS = 60;

/** @typedef {{kind: string, [field: string]: any}} LiveEvent */

/** @type {Set<{kind: string, handler: {current: (event: LiveEvent) => void}}>} */
const listeners = new Set();
const states = new EventTarget();
/** @type {EventSource | null} */
let source = null;
let state = { word: "not live", isLive: false };
let waitSeconds = 1;
let retryTimer = 0;
let hiddenTimer = 0;
let hasMissed = false;

/** @param {string} word @param {boolean} [isLive] */
function say(word, isLive = false) {
  state = { word, isLive };
  states.dispatchEvent(new Event("state"));
}

/** @param {LiveEvent} event */
function tell(event) {
  for (const each of [...listeners]) if (event.kind === "gap" || each.kind === event.kind) each.handler.current(event);
}

function connect() {
  clearTimeout(retryTimer);
  const mine = (source = new EventSource(ROUTE));
  mine.onopen = () => {
    waitSeconds = 1;
    say("live", true);
    if (hasMissed) tell({ kind: "gap" });
    hasMissed = false;
  };
  mine.onerror = () => {
    mine.close();
    hasMissed = true;
    say(`reconnecting ${waitSeconds} s`);
    retryTimer = setTimeout(connect, waitSeconds * 1000);
    waitSeconds = Math.min(waitSeconds * 2, MOST_SECONDS);
  };
  for (const kind of KINDS) mine.addEventListener(kind, (event) => tell({ ...JSON.parse(event.data), kind }));
  mine.addEventListener("gap", () => tell({ kind: "gap" }));
}

function close() {
  clearTimeout(retryTimer);
  source?.close();
  source = null;
  hasMissed = true;
  say("not live");
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN_SECONDS * 1000);
  else if (!source && listeners.size) connect();
});

/** Hear of one kind; after a gap `{kind: "gap"}`, which asks for a reload. @param {string} kind @param {(event: LiveEvent) => void} handler */
export function useLive(kind, handler) {
  const current = useRef(handler);
  current.current = handler;
  useEffect(() => {
    const mine = { kind, handler: current };
    listeners.add(mine);
    return () => void listeners.delete(mine);
  }, [kind]);
}

/** The connection's state in a word. @returns {{word: string, isLive: boolean}} */
export function useLiveState() {
  const [shown, setShown] = useState(state);
  useEffect(() => {
    const update = () => setShown(state);
    states.addEventListener("state", update);
    update();
    return () => states.removeEventListener("state", update);
  }, []);
  return shown;
}
