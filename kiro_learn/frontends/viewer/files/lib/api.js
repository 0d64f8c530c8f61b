// The API, which is all that the viewer reads.
import { useCallback, useEffect, useState } from "./html.js";

/** @typedef {Record<string, string | number | boolean | null | undefined>} Params */
/** @typedef {{data: any, error: ApiError | null, loading: boolean, reload: () => void}} RouteState */

/** What the daemon refused, or that it does not answer (status 0). */
export class ApiError extends Error {
  /** @param {number} status @param {string} message @param {string} hint a command, or a sentence */
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

export const noAnswer = () => new ApiError(0, "the daemon does not answer", "kiro-learn start");

/** @param {string} path @param {Params} [params] nothing for null, undefined, false and "" @returns {string} */
export function address(path, params = {}) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value || value === 0) asked.set(name, String(value));
  return asked.size ? `${path}?${asked}` : path;
}

/** The answer's JSON, or its text if it is none; throws ApiError. @param {string} method @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function call(method, path, body, signal) {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let response, answer;
  try {
    response = await fetch(path, { method, signal, ...json });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
    answer = isJson ? JSON.parse(text) : text;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw noAnswer(); // or only the beginning of an answer
  }
  if (response.ok) return answer;
  if (response.status === 401) throw new ApiError(401, "this browser must be let in again", "kiro-learn ui");
  throw new ApiError(response.status, answer.error ?? response.statusText, answer.hint ?? "");
}

/**
 * What a route says; nothing is asked of null. Old data stays while another query of the same path is loaded, or the same after more `changes`.
 * @param {string | null} path @param {Params} [params] @param {number} [changes] @returns {RouteState}
 */
export function useRoute(path, params, changes = 0) {
  const wanted = path === null ? null : address(path, params);
  const [state, setState] = useState({ path, data: /** @type {any} */ (null), error: /** @type {ApiError | null} */ (null), loading: wanted !== null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (wanted === null) return setState({ path, data: null, error: null, loading: false });
    const control = new AbortController();
    setState((old) => ({ path, data: old.path === path ? old.data : null, error: null, loading: true }));
    call("GET", wanted, undefined, control.signal).then(
      (data) => setState({ path, data, error: null, loading: false }),
      (error) => {
        if (control.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setState((old) => ({ path, data: old.data, error, loading: false }));
      },
    );
    return () => control.abort();
  }, [wanted, turn, changes]);
  const reload = useCallback(() => setTurn((old) => old + 1), []);
  // Of another path: what is drawn before the effect runs.
  const { data, error, loading } = state.path === path ? state : { data: null, error: null, loading: wanted !== null };
  return { data, error, loading, reload };
}
