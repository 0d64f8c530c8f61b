"""The status has one line for each topic, and more lines only for problems."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from kiro_learn.frontends.cli import status_screen
from kiro_learn.frontends.cli.status_screen import HomeFacts
from kiro_learn.model.retrieval import ContextStrategy, Ranking
from tests.unit.frontends.cli.samples import NOW, PLAIN, status, usage


def line_about(topic: str, **changes: Any) -> str:
    lines = status_screen.running(status(**changes), "127.0.0.1:1", HomeFacts("~", 0), NOW, PLAIN)
    about = [line for line in lines if line[2:].startswith(topic)]
    return "\n".join(about + [why for line, why in pairwise(lines) if line in about and why.startswith("   ")])


def embedder(state: str, problem: str | None = None) -> dict[str, Any]:
    return {"state": state, "model": "m", "dimensions": 384, "problem": problem, "earlier": []}


def test_indexing_is_silent_when_complete() -> None:
    assert line_about("Indexing") == ""


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"embeddings": {"total": 1204, "embedded": 1180, "set_aside": 2}},
            "! Indexing    24 of 1,204 not yet findable by meaning · 2 set aside",
        ),
        (
            {"word_indexes": {"damaged": ["/actor/ada/project/3f/"], "rebuilt_count": 0, "problem": None}},
            "! Indexing    words of 1 project damaged: found without an index, rebuilding it",
        ),
        ({"embedder": embedder("disabled")}, "  Indexing    off: memories are found by their words alone"),
        (
            {"embedder": embedder("failed", "the model is missing")},
            "✗ Indexing    memories are found by their words alone: the model is missing",
        ),
    ],
)
def test_indexing_says_what_cannot_be_found(changes: dict[str, Any], line: str) -> None:
    assert line_about("Indexing", **changes) == line


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (None, "  Indexing    2 projects still by m1; 30 of 1,204 embedded again"),
        (
            "there is no folder models/m1",
            (
                "! Indexing    2 projects by words alone; 30 of 1,204 embedded again\n"
                "              there is no folder models/m1"
            ),
        ),
    ],
)
def test_a_change_of_the_embedding_model_is_told_until_it_is_done(problem: str | None, line: str) -> None:
    earlier = {"name": "m1", "project_count": 2, "problem": problem}
    changing = {**embedder("ready"), "earlier": [earlier]}
    assert line_about("Indexing", embedder=changing, reembedding={"total": 1204, "done": 30}) == line


def test_writes_that_fail_are_wrong() -> None:
    assert line_about("Storage") == ""
    assert line_about("Storage", write_problem="the disk is ill") == (
        "✗ Storage     what came last is not stored\n              the disk is ill"
    )


def test_a_failed_run_is_a_warning() -> None:
    run = {"finished_at": "2026-11-20T14:04:00.000000Z", "record_count": 0, "problem": "the model timed out"}
    assert line_about("Learning", runs=[run]) == (
        "! Learning    without a model · 0 waiting · last failed 1 min ago\n              the model timed out"
    )


def project(**changes: Any) -> dict[str, Any]:
    return {
        "breaker": "closed",
        "judge_breaker": "closed",
        "refused_event_count": 0,
        "refusal": None,
        "problem": None,
        **changes,
    }


def llm(strategy: str = "llm-summary", name: str = "kiro-cli", **changes: Any) -> dict[str, Any]:
    return {
        "strategy": strategy,
        "name": name,
        "reason": "kiro-cli is set up",
        "obstacle": None,
        "stands_in_for": None,
        "problem": None,
        "login": None,
        "warning": None,
        "usage": usage(),
        **changes,
    }


SICK = llm("extractive", "extractive", stands_in_for="kiro-cli", problem="the agent wants you to log in")
SPENT = llm(
    "extractive", "extractive", stands_in_for="kiro-cli", usage=usage(calls=500, is_spent=True, characters_in=41_200)
)


def test_a_project_that_fails_is_a_warning_before_its_breaker_opens() -> None:
    projects = [project(), project(problem="learning was ended by an unexpected KeyError")]
    assert line_about("Learning", projects=projects, runs=[]) == (
        "! Learning    without a model · 0 waiting · failing in 1 project\n"
        "              learning was ended by an unexpected KeyError"
    )


def test_what_the_model_refused_is_a_warning() -> None:
    projects = [project(refused_event_count=3, refusal="the model works, but not on a batch of 3 events: too slow")]
    assert line_about("Learning", llm=llm(), projects=projects, runs=[]) == (
        "! Learning    by kiro-cli · 0 waiting · 3 events refused by the model\n"
        "              the model works, but not on a batch of 3 events: too slow"
    )


def test_paused_learning_is_wrong() -> None:
    projects = [project(breaker="open", problem="the model timed out"), project()]
    assert line_about("Learning", projects=projects) == (
        "✗ Learning    without a model · 0 waiting · paused in 1 project\n              the model timed out"
    )


def test_learning_before_the_first_run_and_with_a_model() -> None:
    assert line_about("Learning", runs=[], llm=llm()) == "✓ Learning    by kiro-cli · 0 waiting"


def test_a_learner_that_stands_in_is_shown_with_the_reason() -> None:
    assert line_about("Learning", runs=[], llm=SICK) == (
        "! Learning    without a model · 0 waiting · kiro-cli fails\n              the agent wants you to log in"
    )


def test_a_day_whose_calls_are_used_up_is_shown() -> None:
    assert line_about("Learning", llm=SPENT) == (
        "! Learning    without a model today · 0 waiting · last 2 min ago: 3 memories"
    )
    assert line_about("Model", llm=SPENT) == (
        "! Model       500 of 500 calls today, none left · 41,200 characters to kiro-cli"
    )


OBSTACLE = "kiro-cli is not used: no ~/.kiro/agents/kiro-learn-compressor.json"


def test_why_auto_does_without_a_model_is_shown() -> None:
    assert line_about("Learning", runs=[], llm=llm("extractive", "extractive", obstacle=OBSTACLE)) == (
        f"✓ Learning    without a model · 0 waiting\n              {OBSTACLE}"
    )


def test_what_to_do_about_it_is_shown_whole() -> None:
    obstacle = f"kiro-cli is not used: {'it says so at length, and ' * 5}kiro-learn doctor names the way out"
    shown = status_screen.running(
        status(runs=[], llm=llm("extractive", "extractive", obstacle=obstacle)),
        "127.0.0.1:1",
        HomeFacts("~", 0),
        NOW,
        PLAIN,
    )
    assert obstacle in " ".join(" ".join(shown).split())
    assert max(map(len, shown)) <= 80


def test_a_command_that_mends_it_is_shown_on_a_narrow_terminal_too() -> None:
    command = 'kiro-learn config set llm.command "npx -y @a-vendor/claude-agent-acp"'
    obstacle = f"kiro-cli is not used: it was not found on the PATH. Another agent can: {command}"
    learning = status(runs=[], llm=llm("extractive", "extractive", obstacle=obstacle))
    lines = status_screen.running(learning, "127.0.0.1:1", HomeFacts("~", 0), NOW, PLAIN._replace(width=40))
    assert "".join(obstacle.split()) in "".join("".join(lines).split())  # a word longer than a line is broken


def test_what_is_worse_is_shown_instead() -> None:
    projects = [project(breaker="open", problem="the store is full")]
    assert line_about("Learning", projects=projects, llm=llm("extractive", "extractive", obstacle=OBSTACLE)) == (
        "✗ Learning    without a model · 0 waiting · paused in 1 project\n              the store is full"
    )


def test_a_model_that_does_not_read_whole_prompts_is_a_warning() -> None:
    asked = usage(calls=1, characters_in=96_000, seconds=2.0)
    warning = "context too small: 4,096 tokens were read of 96,000 characters"
    assert line_about("Model", llm=llm(usage=asked, warning=warning)) == (
        f"! Model       1 of 500 calls today · 96,000 characters to kiro-cli · 2.0 s\n              {warning}"
    )


def test_what_is_set_aside_is_a_warning() -> None:
    waiting = {"event_count": 12, "size_bytes": 4096, "parked_event_count": 400}
    assert line_about("Learning", runs=[], llm=llm(), waiting=waiting, parked_cluster_count=1) == (
        "! Learning    by kiro-cli · 12 waiting · 400 events set aside · 1 memory set aside"[:79] + "…"
    )


def test_memories_that_are_not_compared_are_a_warning() -> None:
    assert line_about("Learning", runs=[], llm=llm(), projects=[project(judge_breaker="open")]) == (
        "! Learning    by kiro-cli · 0 waiting · merging paused in 1 project"
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"usage": usage()}, "0 of 500 calls today · nothing left this machine"),
        ({"usage": usage(limit=0)}, "0 calls today · nothing left this machine"),
        (
            {"usage": usage(calls=12, characters_in=41_200, seconds=34.2)},
            "12 of 500 calls today · 41,200 characters to kiro-cli · 34 s",
        ),
        (
            {"usage": usage(calls=1, limit=0, failures=1, characters_in=4_120_000, seconds=0.4)},
            "1 call today · 4.1 M characters to kiro-cli · 0.4 s · 1 failed",
        ),
        (
            {"strategy": "extractive", "name": "extractive", "usage": usage(calls=2, characters_in=900)},
            "2 of 500 calls today · 900 characters sent · 0.0 s",
        ),
    ],
)
def test_the_budget_is_shown_against_its_limit(changes: dict[str, Any], line: str) -> None:
    assert line_about("Model", llm=llm(**changes)) == f"  Model       {line}"


@pytest.mark.parametrize("who", [SICK, SPENT, llm(name="a-model-with-a-very-long-name-indeed:72b-instruct-q4")])
def test_no_line_is_wider_than_the_terminal(who: dict[str, Any]) -> None:
    waiting = {"event_count": 1_234_567, "size_bytes": 1, "parked_event_count": 1_234_567}
    used = usage(calls=1234, limit=1200, is_spent=True, failures=1234, characters_in=4_120_000, seconds=9_000.0)
    problem = "the agent gave up " * 20
    status_now = status(
        llm={**who, "usage": used, "problem": problem},
        waiting=waiting,
        projects=[project(breaker="open", problem=problem)],
        embedder=embedder("failed", problem),
    )
    lines = status_screen.running(status_now, "127.0.0.1:1", HomeFacts("~", 0), NOW, PLAIN)
    assert max(map(len, lines)) <= 80


def test_a_daemon_that_was_not_asked_yet() -> None:
    assert line_about("Retrieval", recall={"asked": 0}) == "✓ Retrieval   no prompt asked since its start"


def test_partial_answers_are_counted() -> None:
    recall: dict[str, Any] = {
        "asked": 2,
        "told": 1,
        "silent": 1,
        "partial": 1,
        "latency_ms_p95": None,
        "mute_rankings": [],
    }
    assert line_about("Retrieval", recall=recall).endswith("2 since its start: 1 told something, 1 silent · 1 in part")


@pytest.mark.parametrize("ranking", Ranking)
def test_a_ranking_that_no_longer_helps_is_a_warning(ranking: Ranking) -> None:
    recall = {"asked": 40, "told": 40, "silent": 0, "partial": 0, "latency_ms_p95": None, "mute_rankings": [ranking]}
    line = line_about("Retrieval", recall=recall)
    assert line.startswith("! ")
    assert f"{ranking.value} no longer find" in line


def contexts(**changes: Any) -> dict[str, Any]:
    shares = {"words": 0.976, "meaning": 1.0, "names": 0.31, "graph": 0.286, "preferences": 0.1}
    made = {"made": 42, "partial": 0, "hits": {}, "shares": shares, "mute": [], **changes}
    return {**status()["recall"], "contexts": made}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"made": 0}, ""),
        ({}, "✓ Contexts    42: words 98 %, meaning 100 %, names 31 %, graph 29 %"),
        ({"partial": 3}, "✓ Contexts    42: words 98 %, meaning 100 %, names 31 %, graph 29 % · 3 in part"),
        (
            {"mute": ["names"]},
            (
                "! Contexts    42: words 98 %, meaning 100 %, names 31 %, graph 29 %\n"
                "              no name was ever found, though entities have words of messages"
            ),
        ),
    ],
)
def test_context_blocks_are_shown_with_what_found_something_for_them(changes: dict[str, Any], line: str) -> None:
    shown = line_about("Contexts", recall=contexts(**changes))
    assert shown == line
    assert all(len(each) <= 80 for each in shown.splitlines())


@pytest.mark.parametrize("strategy", [each for each in ContextStrategy if each is not ContextStrategy.PREFERENCES])
def test_a_strategy_that_never_found_anything_is_a_warning(strategy: ContextStrategy) -> None:
    shown = line_about("Contexts", recall=contexts(mute=[strategy]))
    assert shown.startswith("! ")
    assert not shown.endswith("…")


def test_a_home_where_nothing_ever_ran() -> None:
    assert status_screen.stopped(None, 0, NOW, PLAIN) == ["✗ Not running"]


def test_damaged_rows_are_counted_and_named() -> None:
    shown = line_about("Damage", damaged={"count": 2, "rows": ["mr_1", "01JB"]})
    counted, named = shown.split("\n")
    assert counted == "! Damage      2 rows of the database cannot be read; the others can"
    assert named.strip() == "mr_1, 01JB"


def test_lines_of_rule_files_that_contradict_memories_are_counted_and_the_first_is_shown() -> None:
    conflict = {"record_id": "mr_1", "title": "Use bun", "path": "/shop/CLAUDE.md", "line": 3, "text": "Never use bun."}
    shown = line_about("Rules", rule_conflicts=[conflict, conflict])
    assert "2 lines of rule files contradict memories" in shown
    assert "/shop/CLAUDE.md:3: Never use bun. | remembered: Use bun" in shown
    pair = {**conflict, "path": "", "text": "Use npm", "other_id": "mr_2"}
    shown = line_about("Rules", rule_conflicts=[pair])
    assert "1 pair of rules contradict each other" in shown
    assert "keep one: kiro-learn conflicts keep mr_1 --over mr_2\n" in shown
    assert "Use bun | Use npm" in shown
    assert line_about("Rules", rule_conflicts=[]) == line_about("Rules") == ""


def sharing(**changes: Any) -> dict[str, Any]:
    project = {"problem": "", "shared": 3, "received": {"ann": 1, "bob": 4}}
    return {"team": "team at db", "problem": "", "hint": "", "projects": [project], **changes}


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (None, ""),
        (sharing(team=None), ""),
        (sharing(), "✓ Sharing     3 memories shared · 5 memories of others"),
        (sharing(problem="it is away", hint="wait"), "! Sharing     it is away\n              wait"),
        (sharing(projects=[{"problem": "not admitted"}]), "! Sharing     not admitted"),
    ],
)
def test_sharing_is_told_where_something_is_shared(value: dict[str, Any] | None, line: str) -> None:
    assert line_about("Sharing", sharing=value) == line


def test_where_something_is_shared_it_is_not_said_that_nothing_left_this_machine() -> None:
    assert line_about("Model", llm=llm(usage=usage()), sharing=sharing()) == "  Model       0 of 500 calls today"


@pytest.mark.parametrize(
    ("free", "said"),
    [
        (None, "  Home        ~ · 1.0 MB"),
        (200_000_000, "  Home        ~ · 1.0 MB"),
        (50_000_000, "! Home        ~ · 1.0 MB · 50 MB free"),
        (
            12_000,
            "✗ Home        ~ · 1.0 MB · 12 kB free\n              nothing more can be stored: make room on its disk",
        ),
    ],
)
def test_a_disk_without_room_is_said(free: int | None, said: str) -> None:
    home = HomeFacts("~", 1_000_000, free)
    lines = "\n".join(status_screen.running(status(), "127.0.0.1:1", home, NOW, PLAIN))
    assert lines.endswith(said)
    assert home.is_full == (free == 12_000)
