// Times and numbers as people read them.

const DAY = 86_400_000;

/** `1,204`. @param {number} value */
export const count = (value) => value.toLocaleString("en-US");

/** `1 memory`, `2 memories`. @param {number} value @param {string} one @param {string} [many] */
export const counted = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** `10:02`. @param {Date} at */
export const clock = (at) => at.toTimeString().slice(0, 5);

/** `4 Nov`, with the year if it is another one. @param {Date} at */
export function day(at) {
  const year = at.getFullYear() === new Date().getFullYear() ? "" : ` ${at.getFullYear()}`;
  return `${at.getDate()} ${at.toLocaleDateString("en", { month: "short" })}${year}`;
}

/** What sort of memory it is, as people read it. @param {any} memory */
export const typeOf = (memory) => String(memory.capture_type ?? memory.knowledge_type ?? memory.observation_type).replaceAll("_", " ");

/** `4 min ago` within a week, else `4 Nov 10:02`. @param {string | Date} when @param {number} [now] */
export function ago(when, now = Date.now()) {
  const at = new Date(when);
  const passed = now - at.getTime();
  if (passed < -60_000 || passed >= 7 * DAY) return `${day(at)} ${clock(at)}`;
  if (passed < 60_000) return "just now";
  if (passed < 3_600_000) return `${Math.floor(passed / 60_000)} min ago`;
  if (passed < DAY) return `${Math.floor(passed / 3_600_000)} h ago`;
  return `${Math.floor(passed / DAY)} d ago`;
}

/** `23 ms`, `1.4 s`. @param {number} ms */
export const milliseconds = (ms) => (ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** `…K7Q4M2`: an id's tail is what differs. @param {string} id */
export const shortId = (id) => (id.length > 8 ? `…${id.slice(-6)}` : id);

/** When something is told that nobody asked for. @type {Record<string, string>} */
export const OCCASIONS = { start: "started a session", act: "was about to use a tool" };

export const AGENTS = /** @type {Record<string, string>} */ ({
  "claude-code": "Claude Code", "kiro-cli": "Kiro CLI", "copilot-cli": "Copilot CLI", "kiro-ide": "Kiro IDE", "amazon-q": "Amazon Q", codex: "Codex",
  gemini: "Gemini", cursor: "Cursor", opencode: "opencode", api: "A program", mcp: "MCP",
});

/** @param {string | null | undefined} name */
export const agentName = (name) => (name ? (AGENTS[name] ?? name) : "An agent");
