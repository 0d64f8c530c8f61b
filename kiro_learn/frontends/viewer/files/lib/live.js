// What happens now: one EventSource for the tab, closed once the tab was hidden for some seconds.
import { address } from "./api.js";
import { shared, useEffect, useRef } from "./html.js";

const ROUTE = "/v1/live";
const KINDS = ["learned", "retrieval", "status", "gap"];
const MOST_SECONDS = 30;
const HIDDEN_SECONDS = 5; // of a browser's six connections, all tabs that listen have one each
/** The daemon is heard of every 15 s. */
const QUIET_SECONDS = 40;

/** @typedef {{kind: string, [field: string]: any}} LiveEvent */

/** @type {Set<{kind: string, handler: (event: LiveEvent) => void}>} */
const listeners = new Set();
/** @type {EventSource | null} */
let source = null;
/** The connection's state in a word; `isLost`: it was tried, and is tried again. */
export const liveState = shared({ word: "not live", isLive: false, isLost: false });
let waitSeconds = 1;
let retryTimer = 0;
let hiddenTimer = 0;
let quietTimer = 0;
let lastId = "";

/** @param {string} word @param {boolean} [isLive] */
const say = (word, isLive = false) => liveState.set({ word, isLive, isLost: !isLive && source !== null });

/** @param {MessageEvent} message */
function hear(message) {
  lastId = message.lastEventId || lastId;
  const event = { ...JSON.parse(message.data), kind: message.type };
  for (const each of [...listeners]) if (event.kind === "gap" || each.kind === event.kind) each.handler(event);
}

/** Go on after the last event that was heard: the daemon tells what came since, or that there is a gap. */
export function connect() {
  clearTimeout(retryTimer);
  const mine = (source = new EventSource(address(ROUTE, { last_event_id: lastId })));
  const again = () => {
    clearTimeout(quietTimer);
    mine.close();
    say(`reconnecting ${waitSeconds} s`);
    retryTimer = setTimeout(connect, waitSeconds * 1000);
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

function close() {
  clearTimeout(retryTimer);
  clearTimeout(quietTimer);
  source?.close();
  source = null;
  say("not live");
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = setTimeout(close, HIDDEN_SECONDS * 1000);
  else if (!source) connect();
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
