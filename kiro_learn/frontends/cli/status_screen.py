"""The status as lines: one topic a line, always in this order; a topic whose facts are not there has no line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from kiro_learn.frontends.cli import backup_texts, graph_texts, pause_texts, share_texts, texts
from kiro_learn.frontends.cli.command import build_note
from kiro_learn.frontends.cli.terminal import (
    Terminal,
    ago,
    calendar_time,
    characters,
    counted,
    cut,
    duration,
    events,
    memories,
    milliseconds,
    moment_of,
    size,
)

COLUMN = 12
MARK_WIDTH = 2
SHOWN_PROBLEMS = 3

Json = dict[str, Any]


class HomeFacts(NamedTuple):
    """The folder, as people write it, and the size of what is in its database."""

    path: str
    database_bytes: int


class Line(NamedTuple):
    """One topic: how it is, its name, its facts, and on a line of its own why it is not well."""

    mark: str
    topic: str
    facts: tuple[str, ...]
    why: str = ""
    is_cut: bool = True
    """Whether what does not fit may go; paths and addresses stay whole."""


def running(status: Json, address: str, home: HomeFacts, now: datetime, terminal: Terminal) -> list[str]:
    """A running daemon's status."""
    lines = (
        _running(status, address),
        _memory(status),
        *_damage(status),
        *_spool(status),
        *_log(status),
        *_pauses(status, now),
        *_sharing(status),
        _learning(status, now),
        _retrieval(status),
        *_contexts(status),
        *_rule_conflicts(status),
        *_indexing(status),
        _model(status),
        *_backup(status, now),
        Line("none", texts.STATUS_HOME, (home.path, size(home.database_bytes)), is_cut=False),
    )
    return [text for line in lines for text in _shown(line, terminal)]


def stopped(last_seen: datetime | None, spooled_count: int, now: datetime, terminal: Terminal) -> list[str]:
    """That no daemon runs, since when, and what waits for it."""
    facts = [texts.NOT_RUNNING]
    if last_seen is not None:
        facts.append(texts.LAST_SEEN.format(time=calendar_time(last_seen, now)))
    if spooled_count:
        facts.append(texts.KEPT_FOR_LATER.format(events=events(spooled_count)))
    return [f"{terminal.mark('wrong')} {texts.DOT.join(facts)}"]


def _shown(line: Line, terminal: Terminal) -> Iterator[str]:
    room = terminal.width - MARK_WIDTH - COLUMN
    facts = texts.DOT.join(line.facts)
    if line.is_cut:
        facts = cut(facts, room)
    yield f"{terminal.mark(line.mark)} {terminal.bold(f'{line.topic:{COLUMN}}')}{facts}"
    if line.why:
        yield f"{'':{MARK_WIDTH + COLUMN}}{cut(line.why, room)}"


def _running(status: Json, address: str) -> Line:
    seconds = (moment_of(status["now"]) - moment_of(status["started_at"])).total_seconds()
    version = texts.VERSION.format(version=status["version"])
    facts = (duration(seconds), address, size(status["rss_bytes"]), version)
    why = build_note(status["version"], status.get("build", ""))
    return Line("warning" if why else "ok", texts.STATUS_RUNNING, facts, is_cut=False, why=why)


def _memory(status: Json) -> Line:
    counts = status["counts"]
    projects = counted(counts["total_projects"], *texts.PROJECTS)
    facts = (memories(counts["total_memories"]), events(counts["total_events"]), projects)
    return Line("ok", texts.STATUS_MEMORY, facts)


def _damage(status: Json) -> Iterator[Line]:
    """Only where rows of the database cannot be read."""
    damaged = status["damaged"]
    if damaged["count"]:
        facts = (texts.ROWS_DAMAGED.format(count=damaged["count"]),)
        yield Line("warning", texts.STATUS_DAMAGE, facts, ", ".join(damaged["rows"]))


def _spool(status: Json) -> Iterator[Line]:
    """Only where hooks kept something that the daemon cannot read, or not remove."""
    spool = status.get("spool")  # a daemon of the version before does not tell
    if spool and spool["problem_count"]:
        facts = (texts.SPOOL_PROBLEMS.format(files=counted(spool["problem_count"], *texts.FILES_COUNTED)),)
        yield Line("warning", texts.STATUS_EVENTS, facts, "; ".join(spool["problems"][:SHOWN_PROBLEMS]))


def _log(status: Json) -> Iterator[Line]:
    """Only where the daemon cannot write it."""
    if problem := status.get("log_problem"):
        yield Line("warning", texts.STATUS_LOG, (texts.LOG_LOST,), problem)


def _pauses(status: Json, now: datetime) -> Iterator[Line]:
    """What is neither taken in nor told, each with the ``project`` by its name."""
    for each in status.get("pauses", ()):
        session = each["session_id"]
        facts = (each["project"], *((pause_texts.STATUS_SESSION.format(session=session),) if session else ()))
        yield Line("warning", pause_texts.STATUS_PAUSED, (*facts, calendar_time(moment_of(each["since"]), now)))


def _sharing(status: Json) -> Iterator[Line]:
    """Only where something is shared: how much, or why not."""
    sharing = status.get("sharing")  # a daemon of the version before does not tell
    if not sharing or sharing["team"] is None:
        return
    projects = sharing["projects"]
    problems = [sharing["problem"], *(each["problem"] for each in projects)]
    if problem := next(filter(None, problems), ""):
        yield Line("warning", share_texts.STATUS, (problem,), sharing["hint"])
        return
    shared = share_texts.SHARED.format(memories=memories(sum(each["shared"] for each in projects)))
    received = sum(count for each in projects for count in each["received"].values())
    yield Line("ok", share_texts.STATUS, (shared, share_texts.OF_OTHERS.format(memories=memories(received))))


def _backup(status: Json, now: datetime) -> Iterator[Line]:
    """How old the newest copy is, and why there is no newer one."""
    backup = status.get("backup")  # a daemon of the version before does not tell
    if not backup:
        return
    newest = backup["newest_at"]
    facts = [backup_texts.STATUS_NEWEST.format(ago=ago(moment_of(newest), now)) if newest else backup_texts.STATUS_NONE]
    facts += [size(backup["bytes"])] if newest else []
    facts += [] if backup["enabled"] else [backup_texts.STATUS_OFF]
    if backup["problem"]:
        facts.append(backup_texts.STATUS_FAILS)
    mark = "warning" if backup["problem"] else "none"
    yield Line(mark, backup_texts.STATUS_BACKUP, tuple(facts), backup["problem"])


def _learning(status: Json, now: datetime) -> Line:
    """What waits; what is not as it should be, the worst of it; else what was learned last, and why without a model."""
    facts = [_who_learns(status["llm"]), texts.WAITING.format(count=status["waiting"]["event_count"])]
    aside = (*_set_aside(status), *_refused(status))
    mark, trouble, why = _trouble(status, now)
    if mark == "ok" and (aside or _is_out_of_calls(status["llm"])):
        mark = "warning"
        why = next((project["refusal"] for project in status["projects"] if project["refusal"]), "")
    return Line(mark, texts.STATUS_LEARNING, (*facts, *aside, *trouble), why or status["llm"]["obstacle"] or "")


def _who_learns(llm: Json) -> str:
    return texts.WITHOUT_A_MODEL_TODAY if _is_out_of_calls(llm) else how_learned(llm["strategy"], llm["name"])


def _is_out_of_calls(llm: Json) -> bool:
    return bool(llm["usage"]["is_spent"] and llm["stands_in_for"])


def _set_aside(status: Json) -> Iterator[str]:
    if count := status["waiting"]["parked_event_count"]:
        yield texts.EVENTS_SET_ASIDE.format(events=events(count))
    if count := status["parked_cluster_count"]:
        yield texts.MEMORIES_SET_ASIDE.format(memories=memories(count))


def _refused(status: Json) -> Iterator[str]:
    """Learned by the built-in learner, since the model had no usable answer to them."""
    if count := sum(project["refused_event_count"] for project in status["projects"]):
        yield texts.EVENTS_REFUSED.format(events=events(count))


def _trouble(status: Json, now: datetime) -> tuple[str, tuple[str, ...], str]:
    """The mark that learning deserves, for which fact, and why that is; or what the last run brought."""
    llm = status["llm"]
    paused = [project for project in status["projects"] if project["breaker"] != "closed"]
    failing = [project for project in status["projects"] if project["problem"]]
    unmerged = [project for project in status["projects"] if project["judge_breaker"] != "closed"]
    if paused:
        projects = counted(len(paused), *texts.PROJECTS)
        return "wrong", (texts.LEARNING_PAUSED.format(projects=projects),), paused[0]["problem"] or ""
    if llm["stands_in_for"] and not _is_out_of_calls(llm):
        return "warning", (texts.FAILS.format(model=llm["stands_in_for"]),), llm["problem"] or ""
    if failing:
        projects = counted(len(failing), *texts.PROJECTS)
        return "warning", (texts.LEARNING_FAILS.format(projects=projects),), failing[0]["problem"]
    if unmerged:
        return "warning", (texts.MERGING_PAUSED.format(projects=counted(len(unmerged), *texts.PROJECTS)),), ""
    return _last_run(status["runs"], now)


def _last_run(runs: list[Json], now: datetime) -> tuple[str, tuple[str, ...], str]:
    if not runs:
        return "ok", (), ""
    last = runs[0]
    when = ago(moment_of(last["finished_at"]), now)
    learned = texts.LAST_LEARNED.format(ago=when, memories=memories(last["record_count"]))
    if last["problem"]:
        said = learned if last["record_count"] else texts.LAST_FAILED.format(ago=when)
        return "warning", (said,), last["problem"]
    return "ok", (learned,), ""


def how_learned(strategy: str, name: str = "") -> str:
    return texts.WITHOUT_A_MODEL if strategy == "extractive" else texts.BY_A_MODEL.format(name=name or strategy)


def _retrieval(status: Json) -> Line:
    recall = status["recall"]
    if not recall["asked"]:
        return Line("ok", texts.STATUS_RETRIEVAL, (texts.NEVER_ASKED,))
    facts = [texts.ASKED.format(count=recall["asked"], told=recall["told"], silent=recall["silent"])]
    # A daemon of the version before does not tell.
    became = {name: count for name, count in status.get("feedback", {}).items() if name != "factor" and count}
    facts += [", ".join(f"{count} {name}" for name, count in became.items())] if became else []
    if recall["partial"]:
        facts.append(texts.PARTIAL.format(count=recall["partial"]))
    if recall["latency_ms_p95"] is not None:
        facts.append(texts.SLOWEST.format(latency=milliseconds(recall["latency_ms_p95"])))
    mute = [texts.MUTE[ranking] for ranking in recall["mute_rankings"]]
    return Line("warning" if mute else "ok", texts.STATUS_RETRIEVAL, tuple(facts), "; ".join(mute))


def _contexts(status: Json) -> Iterator[Line]:
    """Only where blocks of the whole memory were made; and what never found anything for one."""
    contexts = status["recall"].get("contexts")  # a daemon of the version before does not tell
    if not contexts or not contexts["made"]:
        return
    names = [name for name in texts.SHOWN_SHARES if name != "meaning" or status["embedder"]["state"] != "disabled"]
    shares = [texts.HIT_SHARE.format(name=name, share=100 * contexts["shares"][name]) for name in names]
    facts = [texts.CONTEXTS_MADE.format(count=contexts["made"], shares=", ".join(shares))]
    if contexts["partial"]:
        facts.append(texts.PARTIAL.format(count=contexts["partial"]))
    mute = [texts.MUTE_CONTEXTS[name] for name in contexts["mute"]]
    yield Line("warning" if mute else "ok", texts.STATUS_CONTEXTS, tuple(facts), "; ".join(mute))


def _rule_conflicts(status: Json) -> Iterator[Line]:
    """Only where a rule file of an agent, or another rule, says the contrary of what is remembered; one of each."""
    conflicts = status.get("rule_conflicts", ())  # a daemon of the version before does not tell
    if lines := [each for each in conflicts if each["path"]]:
        facts = (texts.RULE_CONFLICTS.format(lines=counted(len(lines), *texts.LINES_COUNTED)),)
        yield Line("warning", texts.STATUS_RULES, facts, texts.RULE_CONFLICT.format(**lines[0]))
    if pairs := [each for each in conflicts if not each["path"]]:
        count = graph_texts.RULE_PAIRS.format(pairs=counted(len(pairs), *graph_texts.PAIRS_COUNTED))
        keep = graph_texts.RULE_PAIR_KEEP.format(**pairs[0])
        yield Line("warning", texts.STATUS_RULES, (count, keep), graph_texts.RULE_PAIR.format(**pairs[0]), is_cut=False)


def _indexing(status: Json) -> Iterator[Line]:
    """Only where something cannot be found by meaning, or nothing can, or only without an index."""
    if damaged := status["word_indexes"]["damaged"]:
        projects = counted(len(damaged), *texts.PROJECTS)
        why = status["word_indexes"]["problem"] or ""
        yield Line("warning", texts.STATUS_INDEXING, (texts.WORDS_DAMAGED.format(projects=projects),), why)
    embedder, counts = status["embedder"], status["embeddings"]
    missing = counts["total"] - counts["embedded"]
    if embedder["state"] == "disabled":
        yield Line("none", texts.STATUS_INDEXING, (texts.BY_WORDS_ONLY,))
    elif embedder["state"] == "failed":
        yield Line("wrong", texts.STATUS_INDEXING, (texts.NO_MEANING.format(problem=embedder["problem"]),))
    elif missing:
        aside = counts["set_aside"]
        facts = [texts.NOT_FINDABLE.format(missing=missing, total=counts["total"])]
        yield Line(
            "warning", texts.STATUS_INDEXING, (*facts, *([texts.SET_ASIDE.format(count=aside)] if aside else []))
        )
    yield from _embedding_again(status)


def _embedding_again(status: Json) -> Iterator[Line]:
    """Only after the settings named another embedding model, until all projects have its vectors."""
    for earlier in status["embedder"].get("earlier", ()):  # a daemon of the version before does not tell
        counts = status["reembedding"]
        how = texts.EARLIER_MODEL_GONE if earlier["problem"] else texts.OF_AN_EARLIER_MODEL
        fact = how.format(
            projects=counted(earlier["project_count"], *texts.PROJECTS),
            model=earlier["name"],
            done=counts["done"],
            total=counts["total"],
        )
        problem = earlier["problem"] or ""
        yield Line("warning" if problem else "none", texts.STATUS_INDEXING, (fact,), problem)


def _model(status: Json) -> Line:
    """What models were asked today, and what they were told."""
    llm, usage = status["llm"], status["llm"]["usage"]
    if not usage["calls"]:
        shares = (status.get("sharing") or {}).get("team") is not None
        return Line("none", texts.STATUS_MODEL, (_calls(usage), *(() if shares else (texts.NOTHING_LEFT,))))
    if usage["is_spent"]:
        return Line("warning", texts.STATUS_MODEL, (texts.NO_MORE_CALLS.format(calls=_calls(usage)), _sent(llm)))
    failed = (texts.FAILED.format(count=usage["failures"]),) if usage["failures"] else ()
    facts = (_calls(usage), _sent(llm), duration(usage["seconds"]), *failed)
    return Line("warning" if llm["warning"] else "none", texts.STATUS_MODEL, facts, llm["warning"] or "")


def _calls(usage: Json) -> str:
    if not usage["limit"]:
        return texts.CALLS_TODAY.format(calls=counted(usage["calls"], *texts.CALLS))
    return texts.CALLS_OF.format(count=usage["calls"], calls=counted(usage["limit"], *texts.CALLS))


def _sent(llm: Json) -> str:
    """How much, and to whom; where models are no longer asked, to whom is not known any more."""
    sent = characters(llm["usage"]["characters_in"])
    model = llm["stands_in_for"] or ("" if llm["strategy"] == "extractive" else llm["name"])
    return texts.SENT_TO.format(characters=sent, model=model) if model else texts.SENT.format(characters=sent)
