"""The status as lines: one line a topic, always in this order; a topic without facts has no line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from kiro_learn.client.building import Json
from kiro_learn.frontends.cli import texts
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
    plain,
    size,
)
from kiro_learn.services.doctor import LEAST_FREE_BYTES

MUTE = {"words": "words no longer find anything", "meaning": "meaning no longer finds anything"}
WHY_LINES, WHY_CHARACTERS = 4, 320
"""The limits of an explanation; the larger one counts: a narrow terminal shows as much text in more lines."""
SHOWN_SHARES = ("words", "meaning", "names", "graph")
"""Preferences are not searched for, so their share is only in the JSON."""
MUTE_CONTEXTS = {
    "words": "words never found anything",
    "meaning": "meaning never found anything",
    "names": "no name was ever found, though entities have words of messages",
    "graph": "nothing was ever found next to an entity that is named",
}

COLUMN = 12
MARK_WIDTH = 2
SHOWN_PROBLEMS = 3
NO_ROOM_BYTES = 4_000_000
"""With less free space, the log of a database cannot grow, so nothing more can be stored."""


class HomeFacts(NamedTuple):
    """The home as people write it, and the size of its database."""

    path: str
    database_bytes: int
    free_bytes: int | None = None
    """The free bytes on its disk; None: not known."""

    @property
    def is_full(self) -> bool:
        """Whether there is too little space to store anything."""
        return self.free_bytes is not None and self.free_bytes < NO_ROOM_BYTES


class Line(NamedTuple):
    """One topic: its mark, its name, its facts, and on lines of their own why something is wrong."""

    mark: str
    topic: str
    facts: tuple[str, ...]
    why: str = ""
    is_cut: bool = True
    """Whether facts may be cut if they do not fit; paths and addresses stay whole."""


def running(status: Json, address: str, home: HomeFacts, now: datetime, terminal: Terminal) -> list[str]:
    """The status of a running daemon."""
    lines = (
        _running(status, address),
        _memory(status),
        *_damage(status),
        *_spool(status),
        *_writes(status),
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
        _home(home),
    )
    return [text for line in lines for text in _shown(line, terminal)]


def _home(home: HomeFacts) -> Line:
    facts: tuple[str, ...] = (home.path, size(home.database_bytes))
    if home.free_bytes is None or home.free_bytes >= LEAST_FREE_BYTES:
        return Line("none", "Home", facts, is_cut=False)
    why = "nothing more can be stored: make room on its disk" if home.is_full else ""
    mark = "wrong" if home.is_full else "warning"
    return Line(mark, "Home", (*facts, f"{size(home.free_bytes)} free"), is_cut=False, why=why)


def stopped(last_seen: datetime | None, spooled_count: int, now: datetime, terminal: Terminal) -> list[str]:
    """That no daemon runs, since when, and what waits for it."""
    facts = ["Not running"]
    if last_seen is not None:
        facts.append(f"last seen {calendar_time(last_seen, now)}")
    if spooled_count:
        facts.append(f"{events(spooled_count)} kept for later")
    return [f"{terminal.mark('wrong')} {texts.DOT.join(facts)}"]


def _shown(line: Line, terminal: Terminal) -> Iterator[str]:
    room = terminal.width - MARK_WIDTH - COLUMN
    facts = texts.DOT.join(line.facts)
    if line.is_cut:
        facts = cut(facts, room)
    yield f"{terminal.mark(line.mark)} {terminal.bold(f'{line.topic:{COLUMN}}')}{facts}"
    if line.why:
        # Shown whole, if it is not very long: it says what to do about the problem.
        most = max(WHY_LINES, WHY_CHARACTERS // room)
        parts = textwrap.wrap(
            plain(line.why), room, max_lines=most, break_on_hyphens=False, placeholder="\N{HORIZONTAL ELLIPSIS}"
        )
        yield from (f"{'':{MARK_WIDTH + COLUMN}}{part}" for part in parts)


def _running(status: Json, address: str) -> Line:
    seconds = max(0.0, (moment_of(status["now"]) - moment_of(status["started_at"])).total_seconds())  # if put back
    version = f"v{status['version']}"
    facts = (duration(seconds), address, size(status["rss_bytes"]), version)
    why = build_note(status["version"], status.get("build", ""))
    return Line("warning" if why else "ok", "Running", facts, is_cut=False, why=why)


def _memory(status: Json) -> Line:
    counts = status["counts"]
    projects = counted(counts["total_projects"], *texts.PROJECTS)
    facts = (memories(counts["total_memories"]), events(counts["total_events"]), projects)
    return Line("ok", "Memory", facts)


def _damage(status: Json) -> Iterator[Line]:
    """A line if rows of the database cannot be read."""
    damaged = status["damaged"]
    if damaged["count"]:
        facts = (f"{damaged['count']:,} rows of the database cannot be read; the others can",)
        yield Line("warning", "Damage", facts, ", ".join(damaged["rows"]))


def _spool(status: Json) -> Iterator[Line]:
    """A line if hooks kept files that the daemon cannot read or remove."""
    spool = status.get("spool")  # a daemon of the version before does not send it
    if spool and spool["problem_count"]:
        files = counted(spool["problem_count"], *texts.FILES)
        fact = f"{files} kept for later cannot be read or removed; the others are taken"
        yield Line("warning", "Events", (fact,), "; ".join(spool["problems"][:SHOWN_PROBLEMS]))


def _writes(status: Json) -> Iterator[Line]:
    """A line if the daemon could not store what it wrote last."""
    if problem := status.get("write_problem"):
        yield Line("wrong", "Storage", ("what came last is not stored",), problem)


def _log(status: Json) -> Iterator[Line]:
    """A line if the daemon cannot write its log."""
    if problem := status.get("log_problem"):
        yield Line("warning", "Log", ("lines are lost",), problem)


def _pauses(status: Json, now: datetime) -> Iterator[Line]:
    """A line for each pause, with the name of its ``project``."""
    for each in status.get("pauses", ()):
        session = each["session_id"]
        facts = (each["project"], *((f"session {session}",) if session else ()))
        yield Line("warning", "Paused", (*facts, calendar_time(moment_of(each["since"]), now)))


def _sharing(status: Json) -> Iterator[Line]:
    """A line if something is shared: how much, or why not."""
    sharing = status.get("sharing")  # a daemon of the version before does not send it
    if not sharing or sharing["team"] is None:
        return
    projects = sharing["projects"]
    problems = [sharing["problem"], *(each["problem"] for each in projects)]
    if problem := next(filter(None, problems), ""):
        yield Line("warning", "Sharing", (problem,), sharing["hint"])
        return
    shared = f"{memories(sum(each['shared'] for each in projects))} shared"
    received = sum(count for each in projects for count in each["received"].values())
    yield Line("ok", "Sharing", (shared, f"{memories(received)} of others"))


def _backup(status: Json, now: datetime) -> Iterator[Line]:
    """The age of the newest copy, and why there is no newer one."""
    backup = status.get("backup")  # a daemon of the version before does not send it
    if not backup:
        return
    newest = backup["newest_at"]
    facts = [f"{ago(moment_of(newest), now)}, checked" if newest else "no copy yet"]
    facts += [size(backup["bytes"])] if newest else []
    facts += [] if backup["enabled"] else ["no daily copy, as the settings say"]
    if backup["problem"]:
        facts.append("no copy can be made")
    mark = "warning" if backup["problem"] else "none"
    yield Line(mark, "Backup", tuple(facts), backup["problem"])


def _learning(status: Json, now: datetime) -> Line:
    """What waits and the worst problem; if there is none, the last run, and why no model learns."""
    facts = [_who_learns(status["llm"]), f"{status['waiting']['event_count']:,} waiting"]
    aside = (*_set_aside(status), *_refused(status))
    mark, trouble, why = _trouble(status, now)
    if mark == "ok" and (aside or _is_out_of_calls(status["llm"])):
        mark = "warning"
        why = next((project["refusal"] for project in status["projects"] if project["refusal"]), "")
    return Line(mark, "Learning", (*facts, *aside, *trouble), why or status["llm"]["obstacle"] or "")


def _who_learns(llm: Json) -> str:
    return "without a model today" if _is_out_of_calls(llm) else how_learned(llm["strategy"], llm["name"])


def _is_out_of_calls(llm: Json) -> bool:
    return bool(llm["usage"]["is_spent"] and llm["stands_in_for"])


def _set_aside(status: Json) -> Iterator[str]:
    if count := status["waiting"]["parked_event_count"]:
        yield f"{events(count)} set aside"
    if count := status["parked_cluster_count"]:
        yield f"{memories(count)} set aside"


def _refused(status: Json) -> Iterator[str]:
    """Events that the built-in learner learned, since the model had no usable answer to them."""
    if count := sum(project["refused_event_count"] for project in status["projects"]):
        yield f"{events(count)} refused by the model"


def _trouble(status: Json, now: datetime) -> tuple[str, tuple[str, ...], str]:
    """The mark of learning, the fact that deserves it, and why; or the result of the last run."""
    llm = status["llm"]
    paused = [project for project in status["projects"] if project["breaker"] != "closed"]
    failing = [project for project in status["projects"] if project["problem"]]
    unmerged = [project for project in status["projects"] if project["judge_breaker"] != "closed"]
    if paused:
        projects = counted(len(paused), *texts.PROJECTS)
        return "wrong", (f"paused in {projects}",), paused[0]["problem"] or ""
    if llm["stands_in_for"] and not _is_out_of_calls(llm):
        return "warning", (f"{llm['stands_in_for']} fails",), llm["problem"] or ""
    if failing:
        projects = counted(len(failing), *texts.PROJECTS)
        return "warning", (f"failing in {projects}",), failing[0]["problem"]
    if unmerged:
        return "warning", (f"merging paused in {counted(len(unmerged), *texts.PROJECTS)}",), ""
    return _last_run(status["runs"], now)


def _last_run(runs: list[Json], now: datetime) -> tuple[str, tuple[str, ...], str]:
    if not runs:
        return "ok", (), ""
    last = runs[0]
    when = ago(moment_of(last["finished_at"]), now)
    learned = f"last {when}: {memories(last['record_count'])}"
    if last["problem"]:
        said = learned if last["record_count"] else f"last failed {when}"
        return "warning", (said,), last["problem"]
    return "ok", (learned,), ""


def how_learned(strategy: str, name: str = "") -> str:
    return "without a model" if strategy == "extractive" else f"by {name or strategy}"


def _retrieval(status: Json) -> Line:
    recall = status["recall"]
    if not recall["asked"]:
        return Line("ok", "Retrieval", ("no prompt asked since its start",))
    facts = [f"{recall['asked']:,} since its start: {recall['told']:,} told something, {recall['silent']:,} silent"]
    # A daemon of the version before does not send the feedback.
    became = {name: count for name, count in status.get("feedback", {}).items() if name != "factor" and count}
    facts += [", ".join(f"{count} {name}" for name, count in became.items())] if became else []
    if recall["partial"]:
        facts.append(f"{recall['partial']:,} in part")
    if recall["latency_ms_p95"] is not None:
        facts.append(f"p95 {milliseconds(recall['latency_ms_p95'])}")
    mute = [MUTE[ranking] for ranking in recall["mute_rankings"]]
    return Line("warning" if mute else "ok", "Retrieval", tuple(facts), "; ".join(mute))


def _contexts(status: Json) -> Iterator[Line]:
    """A line if blocks of the whole memory were made, with the strategies that never found anything."""
    contexts = status["recall"].get("contexts")  # a daemon of the version before does not send it
    if not contexts or not contexts["made"]:
        return
    names = [name for name in SHOWN_SHARES if name != "meaning" or status["embedder"]["state"] != "disabled"]
    shares = [f"{name} {100 * contexts['shares'][name]:.0f} %" for name in names]
    facts = [f"{contexts['made']:,}: {', '.join(shares)}"]
    if contexts["partial"]:
        facts.append(f"{contexts['partial']:,} in part")
    mute = [MUTE_CONTEXTS[name] for name in contexts["mute"]]
    yield Line("warning" if mute else "ok", "Contexts", tuple(facts), "; ".join(mute))


def _rule_conflicts(status: Json) -> Iterator[Line]:
    """A line if a line of a rule file, and one if another rule, contradicts a memory; each shows the first."""
    conflicts = status.get("rule_conflicts", ())  # a daemon of the version before does not send it
    if lines := [each for each in conflicts if each["path"]]:
        facts = (f"{counted(len(lines), 'line', 'lines')} of rule files contradict memories",)
        yield Line("warning", "Rules", facts, "{path}:{line}: {text} | remembered: {title}".format(**lines[0]))
    if pairs := [each for each in conflicts if not each["path"]]:
        count = f"{counted(len(pairs), 'pair', 'pairs')} of rules contradict each other"
        keep = "keep one: kiro-learn conflicts keep {record_id} --over {other_id}".format(**pairs[0])
        yield Line("warning", "Rules", (count, keep), "{title} | {text}".format(**pairs[0]), is_cut=False)


def _indexing(status: Json) -> Iterator[Line]:
    """Lines if something cannot be found by meaning, or nothing can, or an index of words is damaged."""
    if damaged := status["word_indexes"]["damaged"]:
        projects = counted(len(damaged), *texts.PROJECTS)
        why = status["word_indexes"]["problem"] or ""
        yield Line("warning", "Indexing", (f"words of {projects} damaged: found without an index, rebuilding it",), why)
    embedder, counts = status["embedder"], status["embeddings"]
    missing = counts["total"] - counts["embedded"]
    if embedder["state"] == "disabled":
        yield Line("none", "Indexing", ("off: memories are found by their words alone",))
    elif embedder["state"] == "failed":
        yield Line("wrong", "Indexing", (f"memories are found by their words alone: {embedder['problem']}",))
    elif missing:
        aside = counts["set_aside"]
        facts = [f"{missing:,} of {counts['total']:,} not yet findable by meaning"]
        yield Line("warning", "Indexing", (*facts, *([f"{aside:,} set aside"] if aside else [])))
    yield from _embedding_again(status)


def _embedding_again(status: Json) -> Iterator[Line]:
    """A line for each earlier embedding model, until all projects have vectors of the current one."""
    for earlier in status["embedder"].get("earlier", ()):  # a daemon of the version before does not send it
        counts, problem = status["reembedding"], earlier["problem"] or ""
        how = "by words alone" if problem else f"still by {earlier['name']}"
        projects = counted(earlier["project_count"], *texts.PROJECTS)
        fact = f"{projects} {how}; {counts['done']:,} of {counts['total']:,} embedded again"
        yield Line("warning" if problem else "none", "Indexing", (fact,), problem)


def _model(status: Json) -> Line:
    """How much models were asked today, and how much text they were sent."""
    llm, usage = status["llm"], status["llm"]["usage"]
    if not usage["calls"]:
        shares = (status.get("sharing") or {}).get("team") is not None
        return Line("none", "Model", (_calls(usage), *(() if shares else ("nothing left this machine",))))
    if usage["is_spent"]:
        return Line("warning", "Model", (f"{_calls(usage)}, none left", _sent(llm)))
    failed = (f"{usage['failures']:,} failed",) if usage["failures"] else ()
    facts = (_calls(usage), _sent(llm), duration(usage["seconds"]), *failed)
    return Line("warning" if llm["warning"] else "none", "Model", facts, llm["warning"] or "")


def _calls(usage: Json) -> str:
    if not usage["limit"]:
        return f"{counted(usage['calls'], *texts.CALLS)} today"
    return f"{usage['calls']:,} of {counted(usage['limit'], *texts.CALLS)} today"


def _sent(llm: Json) -> str:
    """How much was sent, and to which model; that is not known any more once models are no longer asked."""
    sent = characters(llm["usage"]["characters_in"])
    model = llm["stands_in_for"] or ("" if llm["strategy"] == "extractive" else llm["name"])
    return f"{sent} to {model}" if model else f"{sent} sent"
