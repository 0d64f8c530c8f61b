"""Searches by mode, activity, and storing records: each verb with a real daemon."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import Completed, done, environment_for, event, failed, kiro_learn
from tests.integration.daemon_process import running_daemon

SESSION = "0c7c9a52-77aa-4bb0-9d3c-1f2e3d4c5b6a"
SECRET = "gh" + "p_" + "a1B2" * 9


def project_in(folder: Path) -> Path:
    """A folder that is a project of its own."""
    (folder / ".git").mkdir(parents=True)
    return folder


class Place:
    """A daemon, and a project of four memories in a folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder
        project_in(folder)
        with KiroLearn(folder, home=home) as memory:
            memory.store_observation(
                "Added JWT validation to auth.ts",
                type="file-write",
                text="+ verify(token)",
                concepts=["auth"],
                files_modified=["src/auth.ts"],
                session=SESSION,
            )
            memory.store_observation("Ran pnpm test \x1b[31mauth\x1b[0m\x07", type="command", text="42 passed")
            memory.store_knowledge("Tokens expire", "After 15 minutes.", knowledge_type="decision")
            memory.store_summary("Move to JWT", session=SESSION, progress="Half", next_steps="Refresh tokens")
            memory.backfill_embeddings()

    def run(self, *arguments: str) -> Completed:
        return kiro_learn(self.home, *arguments, cwd=self.folder)

    def json(self, *arguments: str) -> Any:
        return json.loads(done(self.run(*arguments, "--json")))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("activity")
    with running_daemon(root / "home") as daemon:
        yield Place(daemon.home, root / "web-shop")


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid", "syntax"])
def test_every_mode_finds_and_explains(place: Place, mode: str) -> None:
    said = done(place.run("search", "JWT", "--mode", mode, "--explain")).splitlines()
    parts = {"hybrid": ["meaning", "words", "pairs", "literal", "session"], "semantic": ["meaning"]}.get(
        mode, ["words"]
    )
    assert said[0].split() == ["score", *parts]
    assert " in web-shop" in said[-1]
    shown = [line.partition("  ")[2] for line in done(place.run("search", "JWT", "--mode", mode)).splitlines()[:-1:3]]
    assert [line.partition("  ")[2] for line in said[1:-2:2]] == shown, "what is explained is the order that is shown"
    hits = place.json("search", "JWT", "--mode", mode)["hits"]
    assert "Added JWT validation to auth.ts" in {hit["memory"]["title"] for hit in hits}
    assert list(hits[0]["parts"]) == parts


def test_searches_are_filtered(place: Place) -> None:
    found = place.json("search", "JWT tokens", "--type", "file-write", "--since", "2026-01-05")
    assert [hit["memory"]["capture_type"] for hit in found["hits"]] == ["file-write"]
    assert place.json("search", "JWT", "--mode", "syntax", "--since", "2999-01-05")["hits"] == []


def test_a_query_that_does_not_parse_says_where(place: Place) -> None:
    assert failed(place.run("search", "auth AND", "--mode", "syntax")) == [
        "error: the query does not parse at character 9: expected a word, found the end",
        "hint:  quote what is meant literally, or: kiro-learn search --mode lexical",
    ]
    (line,) = failed(place.run("search", "auth AND", "--mode", "syntax", "--json"))
    assert json.loads(line)["details"][0]["position"] == 8
    assert "auth" in done(place.run("search", "auth AND", "--mode", "lexical"))


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid", "syntax"])
def test_every_mode_takes_every_option(place: Place, mode: str) -> None:
    options = ("--everywhere", "--since", "2020-01-01", "--until", "2999-01-01", "--type", "decision", "--type", "none")
    found = place.json("search", "pnpm", "--mode", mode, *options)["hits"]
    assert {each["memory"].get("knowledge_type") for each in found} <= {"decision"}
    nothing = ("--session", "s", "--concept", "c", "--file", "f", "--stale")
    assert place.json("search", "pnpm", "--mode", mode, *nothing)["hits"] == []


def test_a_time_that_is_none_is_wrong_usage(place: Place) -> None:
    assert failed(place.run("search", "x", "--since", "soon"), code=2)[1].startswith("hint:  kiro-learn search ")


def test_stored_control_characters_stay_text(place: Place) -> None:
    for arguments in (("search", "pnpm"), ("search", "pnpm", "--explain"), ("timeline",), ("context",), ("report",)):
        said = done(place.run(*arguments, "--color", "always"))
        assert "pnpm" in said
        assert "\x1b[31m" not in said, arguments
        assert "\x07" not in said, arguments


def test_context_is_what_a_session_is_told(place: Place) -> None:
    said = done(place.run("context"))
    assert said.index("- Tokens expire") < said.index("- Added JWT validation")
    answer = place.json("context", "--tokens", "100")
    assert (answer["project"], answer["tokens"] <= 100) == ("web-shop", True)
    assert answer["context"] in said + "\n" or answer["tokens"] < 100
    silent = place.run("context", "--tokens", "1")
    assert (silent.returncode, silent.stdout) == (0, "")
    assert silent.stderr == "Nothing would be told: web-shop has no memory that fits into 1 token.\n"


def test_a_prompt_is_told_what_is_found_for_it_and_how_it_was_found(place: Place) -> None:
    prompt = ("context", "How do we validate a JWT in auth.ts?")
    assert "Added JWT validation to auth.ts" in done(place.run(*prompt))
    lines = done(place.run(*prompt, "--explain")).splitlines()
    assert lines[0].startswith("1  Added JWT validation to auth.ts")
    assert re.match(r"   words \+ meaning · score \d+\.\d\d · told  +…\w{6}$", lines[1])
    answer = place.json(*prompt)
    assert answer["found"][0]["title"] == "Added JWT validation to auth.ts"
    assert lines[-1] == f"{len(answer['found'])} memories of web-shop found, {len(answer['records'])} would be told"
    assert failed(place.run("context", "--explain"), code=2)[0] == "error: --explain needs a prompt"
    assert failed(place.run(*prompt, "--tokens", "9"), code=2)[0] == "error: --tokens does not go with a prompt"


def test_a_timeline_goes_around_a_memory(place: Place) -> None:
    lines = done(place.run("timeline", "--before", "1")).splitlines()
    assert [line[:2] for line in lines[:2]] == ["  ", "● "]
    assert "Move to JWT" in lines[1]
    ending = place.json("search", "JWT validation", "--mode", "syntax")["hits"][0]["memory"]["record_id"]
    answer = place.json("timeline", ending[-6:], "--after", "2")
    assert (answer["anchor"], len(answer["timeline"])) == (ending, 3)
    assert failed(place.run("timeline", "ZZZZZZ"))[0] == 'error: no memory ends in "ZZZZZZ" in web-shop'


def test_a_project_without_memories_has_nothing_to_show(place: Place, tmp_path: Path) -> None:
    project_in(tmp_path / "new")
    for arguments, said in (
        (("timeline",), "No memory in new yet."),
        (("sessions",), "No session in new yet."),
        (("knowledge",), "No knowledge is stored for new. Add some: kiro-learn knowledge add"),
    ):
        assert done(kiro_learn(place.home, *arguments, cwd=tmp_path / "new")) == f"{said}\n"
    assert done(kiro_learn(place.home, "timeline", "--json", cwd=tmp_path / "new")).startswith('{"anchor": null')
    error, hint = failed(kiro_learn(place.home, "sessions", "resume", cwd=tmp_path / "new"))
    assert (error, hint) == ("error: no session of new has a summary yet", "hint:  kiro-learn sessions list")


def test_sessions_are_listed_and_resumed(place: Place) -> None:
    lines = done(place.run("sessions")).splitlines()
    assert lines == done(place.run("sessions", "list")).splitlines()
    assert SESSION in lines[1]
    assert lines[-1].endswith(" in web-shop")
    assert SESSION in {session["session_id"] for session in place.json("sessions")["items"]}
    resumed = done(place.run("sessions", "resume", SESSION))
    assert resumed.startswith("Move to JWT")
    assert "Next steps: Refresh tokens" in resumed
    assert place.json("sessions", "resume")["details"]["next_steps"] == "Refresh tokens"
    assert failed(place.run("sessions", "resume", "s-9"))[1] == "hint:  kiro-learn sessions list"


def test_a_report_comes_in_three_forms(place: Place) -> None:
    assert done(place.run("report")).startswith("web-shop: ")
    assert done(place.run("report", "--month", "--markdown")).startswith("# web-shop: ")
    assert place.json("report", "--month")["period"] == "month"
    assert place.json("report", "--week")["knowledge"] == ["Tokens expire"]
    failed(place.run("report", "--markdown", "--json"), code=2)


def test_what_is_observed_is_kept_once_and_redacted(place: Place, tmp_path: Path) -> None:
    folder = project_in(tmp_path / "observed")
    asked = ("observe", "Read the settings", "--type", "file-read", "--text", f"key {SECRET}", "--file", "a.toml")
    said = done(kiro_learn(place.home, *asked, "--concept", "settings", cwd=folder))
    assert said.startswith("✓ Kept as …")
    assert done(kiro_learn(place.home, *asked, "--concept", "settings", cwd=folder)) == (
        "✓ The same was stored a moment ago; it is not stored twice\n"
    )
    assert "  Differs in: concepts · " in done(kiro_learn(place.home, *asked, cwd=folder))
    again = json.loads(done(kiro_learn(place.home, *asked, "--json", cwd=folder)))
    shown = done(kiro_learn(place.home, "memories", "show", again["duplicate_of"]))
    assert SECRET not in shown + said
    assert "  Files    a.toml\n" in shown
    assert (
        failed(kiro_learn(place.home, "observe", "", cwd=folder))[0]
        == "error: title: expected 1 to 200 characters, found 0"
    )


def test_knowledge_is_kept_and_listed(place: Place, tmp_path: Path) -> None:
    folder = project_in(tmp_path / "known")
    asked = ("knowledge", "add", "rejected", "Redux", "Too much of it.", "--alternative", "signals", "--file", "a.ts")
    assert done(kiro_learn(place.home, *asked, cwd=folder)).startswith("✓ Kept as …")
    lines = done(kiro_learn(place.home, "knowledge", cwd=folder)).splitlines()
    assert lines[0].split()[1:3] == ["rejected", "Redux"]
    assert lines[1] == "1 memory that holds in known"
    page = json.loads(done(kiro_learn(place.home, "knowledge", "list", "--json", cwd=folder)))
    assert page["items"][0]["details"]["alternatives"] == ["signals"]
    failed(kiro_learn(place.home, "knowledge", "add", "rule", "x", "y"), code=2)
    (refused,) = failed(kiro_learn(place.home, "knowledge", "add", "decision", "x", "y", "--severity", "hard"))
    assert refused.startswith("error: severity: ")


def test_embeddings_are_counted_and_made(place: Place) -> None:
    assert done(place.run("embeddings", "backfill")).startswith("✓ ")
    assert place.json("embeddings", "backfill") == {"embedded": 0}
    said = done(place.run("embeddings", "stats")).splitlines()
    assert said[0].startswith("✓ ")
    assert said[0].endswith(" memories findable by meaning · 100.0 %")
    assert place.json("embeddings", "stats")["available"] is True


def test_text_comes_from_standard_input_whatever_its_encoding(place: Place, tmp_path: Path) -> None:
    folder, text = project_in(tmp_path / "piped"), tmp_path / "text"
    text.write_bytes(b"3 tests failed in caf\xe9.py\n")

    def run(*arguments: str) -> Completed:
        return kiro_learn(place.home, *arguments, cwd=folder, piped=text)

    done(run("observe", "Ran the tests", "--text", "-"))
    done(run("knowledge", "add", "decision", "Keep \udcff out", "-"))
    items = json.loads(done(run("knowledge", "list", "--json")))["items"]
    assert [(each["title"], each["text"]) for each in items] == [
        ("Keep \N{REPLACEMENT CHARACTER} out", "3 tests failed in caf\N{REPLACEMENT CHARACTER}.py")
    ]
    assert len(json.loads(done(run("search", "failed", "NOT", "Keep", "--mode", "syntax", "--json")))["hits"]) == 1
    text.write_text("long " * 30_000)
    assert "characters" in failed(run("observe", "Too long", "--text", "-"))[0]
    text.write_text("")
    done(run("observe", "Nothing came", "--text", "-"))


@pytest.mark.parametrize(
    ("closed", "printed"),
    [("<&-", "✗ Not running\n"), (">&-", ""), ("2>&-", "✗ Not running\n"), ("<&- >&- 2>&-", "")],
)
def test_a_stream_that_the_caller_closed_is_nothing_to_fail_on(tmp_path: Path, closed: str, printed: str) -> None:
    command = ["/bin/sh", "-c", f'exec "$0" -m kiro_learn status {closed}', sys.executable]
    environment = environment_for(tmp_path)
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    hint = "" if "2>&-" in closed else "hint:  kiro-learn start\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, printed, hint)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_an_output_that_takes_no_more_is_an_error_of_one_line(place: Place) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "kiro_learn", "report", "--project", str(place.folder)]
        environment = environment_for(place.home)
        ended = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "error: cannot write: No space left on device\n")


def test_a_retrieval_asked_again_is_the_same_until_something_changes(place: Place, tmp_path: Path) -> None:
    prompt = "How do we validate the JWT of auth.ts?"
    with Client(place.home) as client:
        project = client.project(str(place.folder))
        told = client.post_event(event(project["namespace"], str(place.folder), 1, prompt), retrieve=True)["retrieval"]
        case = client.retrieval(client.retrievals(limit=1)["items"][0]["retrieval_id"])
    assert told["context"]
    assert (case["prompt"], case["is_as_told"], case["context"]) == (prompt, True, told["context"])
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case), encoding="utf-8")
    assert done(place.run("context", "--replay", str(path))).startswith("The same: ")
    assert place.json("context", "--replay", str(path)) == {
        "same": True, "told": told["records"], "differences": [],
    }  # fmt: skip

    case["found"][0] |= {"score": 99.5}
    path.write_text(json.dumps(case), encoding="utf-8")
    changed = place.run("context", "--replay", str(path))
    assert (changed.returncode, changed.stdout.count("had 99.5")) == (1, 1)
    case["prompt"] = None
    path.write_text(json.dumps(case), encoding="utf-8")
    assert "has no prompt" in failed(place.run("context", "--replay", str(path)), code=2)[0]
    path.write_text("[1]", encoding="utf-8")
    assert "is not a test case" in failed(place.run("context", "--replay", str(path)), code=2)[0]
