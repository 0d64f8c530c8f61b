// What happens now. A browser has six connections to the daemon, so all its windows share one EventSource: the window that holds
// the lock has it, and passes on what it hears. One that was hidden for some seconds leaves it to the others.
import { address } from "./api.js";
import { shared, useEffect, useRef } from "./html.js";

const ROUTE = "/v1/live";
const KINDS = ["learned", "retrieval", "status", "gap"];
const MOST_SECONDS = 30;
const HIDDEN_SECONDS = 5;
/** The daemon is heard of every 15 s. */
const QUIET_SECONDS = 40;
/** Of the lock, and of the channel on which windows speak. */
const NAME = "kl.live";

/** @typedef {{kind: string, [field: string]: any}} LiveEvent */

/** @type {Set<{kind: string, handler: (event: LiveEvent) => void}>} */
const listeners = new Set();
const others = new BroadcastChannel(NAME);
/** While the window is seen. @type {AbortController | null} */
let turn = null;
/** While it has the lock. @type {EventSource | null} */
let source = null;
let release = () => {};
/** The connection's state in a word; `isLost`: it was tried, and is tried again. */
export const liveState = shared({ word: "not live", isLive: false, isLost: false });
let waitSeconds = 1;
let retryTimer = 0;
let hiddenTimer = 0;
let quietTimer = 0;
let lastId = "";

/** Tell the others the state, and an event with the id before its own. @param {string} before @param {LiveEvent} [event] */
const pass = (before, event) => source && others.postMessage({ state: liveState.get(), before, lastId, event });

/** @param {string} word @param {boolean} [isLive] */
function say(word, isLive = false) {
  liveState.set({ word, isLive, isLost: !isLive && source !== null });
  pass(lastId);
}

/** @param {LiveEvent} event */
function tell(event) {
  for (const each of [...listeners]) if (event.kind === "gap" || each.kind === event.kind) each.handler(event);
}

/** @param {MessageEvent} message */
function hear(message) {
  const before = lastId;
  lastId = message.lastEventId || lastId;
  const event = { ...JSON.parse(message.data), kind: message.type };
  pass(before, event);
  tell(event);
}

others.addEventListener("message", ({ data }) => {
  const { isAsked, state, before, event } = data;
  if (isAsked) return void pass(lastId);
  if (source || !turn) return;
  liveState.set(state);
  if (lastId && lastId !== before) tell({ kind: "gap" }); // missed while this window was hidden
  lastId = data.lastId;
  if (event) tell(event);
});

/** Go on after the last event that was heard: the daemon tells what came since, or that there is a gap. */
function open() {
  const mine = (source = new EventSource(address(ROUTE, { last_event_id: lastId })));
  const again = () => {
    clearTimeout(quietTimer);
    mine.close();
    say(`reconnecting ${waitSeconds} s`);
    retryTimer = setTimeout(open, waitSeconds * 1000);
    waitSeconds = Math.min(waitSeconds * 2, MOST_SECONDS);
  };
  const isThere = () => {
    clearTimeout(quietTimer);
    quietTimer = setTimeout(again, QUIET_SECONDS * 1000);
  };
  isThere();
  mine.onopen = () => {
    waitSeconds = 1;
    say("live", true);
  };
  mine.onerror = again;
  for (const kind of [...KINDS, "heartbeat"]) mine.addEventListener(kind, isThere);
  for (const kind of KINDS) mine.addEventListener(kind, hear);
}

/** Hear what happens from the window that has the stream, and as soon as there is none, have it. */
export function connect() {
  const { signal } = (turn = new AbortController());
  const lead = () => new Promise((done) => void (signal.aborted ? done(null) : ((release = () => done(null)), open())));
  navigator.locks.request(NAME, { signal }, lead).catch(() => {}); // it was hidden before it had the lock
  others.postMessage({ isAsked: true });
}

function close() {
  clearTimeout(retryTimer);
  clearTimeout(quietTimer);
  source?.close();
  source = null;
  turn?.abort();
  turn = null;
  release();
  say("not live");
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN_SECONDS * 1000);
  else if (!turn) connect();
});

/** Hear of one kind, and of `{kind: "gap"}`: something was missed, read anew. @param {string} kind @param {(event: LiveEvent) => void} handler @returns {() => void} ends it */
export function listen(kind, handler) {
  const mine = { kind, handler };
  listeners.add(mine);
  return () => void listeners.delete(mine);
}

/** As `listen`, while the caller is shown. @param {string} kind @param {(event: LiveEvent) => void} handler */
export function useLive(kind, handler) {
  const current = useRef(handler);
  current.current = handler;
  useEffect(() => listen(kind, (event) => current.current(event)), [kind]);
}
