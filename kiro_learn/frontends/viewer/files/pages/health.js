// What is not well, read from /v1/status, each with the command that mends it.
import { counted } from "../lib/format.js";

/** @typedef {{what: string, why: string, mend: string}} Problem */

const DOCTOR = "kiro-learn doctor";
const FIX = "kiro-learn doctor --fix";

/** @param {any} status the body of /v1/status @returns {Problem[]} none where everything works */
export function problemsOf(status) {
  const { llm, embedder, backfill, projects, waiting, damaged, word_indexes, spool, backup, log_problem, recall } = status;
  const paused = projects.filter((/** @type {any} */ each) => each.breaker !== "closed");
  const failing = projects.filter((/** @type {any} */ each) => each.problem && each.breaker === "closed");
  const aside = waiting.parked_event_count;
  /** @type {[unknown, string, string | null | undefined, string][]} */
  const checks = [
    [damaged.count, `${counted(damaged.count, "row")} of the database cannot be read.`, damaged.rows.join(", "), FIX],
    [paused.length, `Learning paused in ${counted(paused.length, "project")}.`, paused[0]?.problem, DOCTOR],
    [failing.length, `Learning failed last in ${counted(failing.length, "project")}.`, failing[0]?.problem, DOCTOR],
    [aside, `${counted(aside, "event")} set aside until learning works again.`, "", "kiro-learn flush"],
    [llm.stands_in_for && !llm.usage.is_spent, `${llm.stands_in_for} fails; learning goes on without it.`, llm.problem, DOCTOR],
    [llm.usage.is_spent, `The ${llm.usage.limit} model calls of today are used up; learning goes on without a model.`, "", "kiro-learn status"],
    [llm.warning, "The model answers, but is not set up well.", llm.warning, DOCTOR],
    [embedder.state === "failed", "Searching by meaning does not work; words do.", embedder.problem, DOCTOR],
    [backfill.problem, "Indexing by meaning has stopped.", backfill.problem, "kiro-learn embeddings backfill"],
    [word_indexes.damaged.length, `The words of ${counted(word_indexes.damaged.length, "project")} are being indexed again.`, word_indexes.problem, DOCTOR],
    [spool.problem_count, `${counted(spool.problem_count, "kept event file")} cannot be taken in.`, spool.problems[0], DOCTOR],
    [recall.mute_rankings.length, `Searching by ${recall.mute_rankings.join(" and ")} adds nothing to the last answers.`, "", DOCTOR],
    [backup.problem, "The daily backup fails.", backup.problem, "kiro-learn backup now"],
    [log_problem, "The log cannot be written.", log_problem, DOCTOR],
  ];
  return checks.filter(([is]) => is).map(([, what, why, mend]) => ({ what, why: why ?? "", mend }));
}
