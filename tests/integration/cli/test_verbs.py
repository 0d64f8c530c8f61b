"""Searching and forgetting, with a real daemon."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from kiro_learn.client.routes import Client
from kiro_learn.wire.agents import AGENTS
from tests.integration.cli.command_line import (
    Completed,
    done,
    environment_for,
    event,
    failed,
    in_a_folder_that_is_gone,
    kiro_learn,
    record,
)
from tests.integration.daemon_process import running_daemon

HOME_PROJECT = ("ab" * 32, "/somewhere/api")
SHOP = ("cd" * 32, "/somewhere/web-shop")


OF_A_DAEMON = (
    ("search", "x", "--mode", "syntax"),
    ("context",),
    ("timeline",),
    ("sessions",),
    ("sessions", "resume"),
    ("report",),
    ("observe", "x"),
    ("knowledge", "add", "decision", "x", "y"),
    ("knowledge",),
    ("embeddings", "stats"),
)


class Place:
    """A daemon with two projects: three memories in one, one in the other."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.client = Client(home)
        for number, (project_id, path) in enumerate((HOME_PROJECT, SHOP)):
            namespace = f"/actor/ana/project/{project_id}/"
            self.client.post_event(event(namespace, path, number, "hello"))
        self.shop = f"/actor/ana/project/{SHOP[0]}/"
        self.client.import_memories([record(self.shop, number) for number in range(20, 23)])
        self.client.remember(record(f"/actor/ana/project/{HOME_PROJECT[0]}/", 30, title="Expiry of certificates"))
        self.client.backfill_embeddings()

    def run(self, *arguments: str, changes: Mapping[str, str] | None = None) -> Completed:
        return kiro_learn(self.home, *arguments, changes=changes)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with running_daemon(tmp_path_factory.mktemp("verbs") / "home") as daemon:
        place = Place(daemon.home)
        yield place
        place.client.close()


def test_search_says_what_was_found_and_how(place: Place) -> None:
    lines = done(place.run("search", "expiry", "check", "--project", "web-shop", "--limit", "2")).splitlines()
    assert lines[0].startswith("1  Refresh tokens before the expiry check, part ")
    assert lines[2].startswith("   words + meaning")
    assert lines[-1].startswith("2 memories in web-shop · ")
    assert lines[-1].endswith(" more in other projects: --everywhere")


@pytest.mark.parametrize("verb", [("memories", "list"), ("search", "expiry"), ("context", "expiry"), ("flush",)])
def test_a_folder_that_was_removed_is_named_and_is_no_defect(
    place: Place, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    gone = in_a_folder_that_is_gone(tmp_path / "worktree", environment_for(place.home), *verb)
    hint = "hint:  cd to one that is there, and give the same command again"
    assert failed(gone) == ["error: the current folder is gone", hint]


def test_a_value_that_the_daemon_refuses_is_named_as_people_know_it(place: Place) -> None:
    taken = failed(place.run("projects", "rename", "web-shop", "a/b"))
    assert taken == ["error: name: expected a name without slashes that no other project has"]
    assert failed(place.run("knowledge", "add", "decision", "", "")) == [
        "error: some values are wrong",
        "  title: expected 1 to 200 characters, found 0",
        "  content: expected 1 to 100000 characters, found 0",
    ]
    told = json.loads(place.run("projects", "rename", "web-shop", "a/b", "--json").stderr)
    assert (told["error"], told["details"][0]["path"]) == ("validation failed", "$.name")


def test_search_as_json_is_the_route_unchanged(place: Place) -> None:
    said = json.loads(done(place.run("search", "expiry", "--project", "web-shop", "--json")))
    asked = place.client.ask("expiry", namespace=place.shop)
    assert said | {"latency_ms": 0} == asked | {"latency_ms": 0}
    memories = [hit["memory"] for hit in said["hits"]]
    assert memories == place.client.ranked_memories(place.shop, "expiry"), "the memories that the other route lists"
    assert [hit["rank"] for hit in said["hits"]] == list(range(1, len(memories) + 1))
    assert all(hit["score"] > 0 and hit["found_by"] for hit in said["hits"])


@pytest.mark.parametrize("named", ["web-shop", SHOP[0], SHOP[0][:12], "/usr/../usr/share"])
def test_a_project_goes_by_name_id_or_path(place: Place, named: str) -> None:
    page = json.loads(done(place.run("memories", "list", "--project", named, "--json")))
    assert page["total"] == (0 if "/" in named else 3)


def test_a_path_that_is_mistyped_is_no_project(place: Place) -> None:
    error, hint = failed(place.run("memories", "list", "--project", "/somewhere/../else/web-shopp"))
    assert error == "error: there is no folder /else/web-shopp, and no project of that folder"
    assert hint == "hint:  Perhaps /somewhere/web-shop is meant."


def test_a_memory_is_corrected_and_the_correction_undone(place: Place) -> None:
    kept = place.client.remember(record(place.shop, 41, title="Zebras are stripped"))["record_id"]
    where = ("--project", "web-shop")
    completed = place.run(
        "memories", "edit", kept[-6:], "--title", "Zebras have stripes", "--fact", "a", "--fact", "b", *where
    )
    new, old = re.findall(r"…(\w{6})", completed.stdout)
    assert (completed.returncode, old) == (0, kept[-6:])
    said = json.loads(done(place.run("memories", "show", new, *where, "--json")))
    assert (said["title"], said["facts"]) == ("Zebras have stripes", ["a", "b"])
    hint = re.findall(r"hint:  kiro-learn (.*)\n", completed.stderr)[0]
    assert place.run(*hint.split(), "--yes", *where).returncode == 0
    assert json.loads(done(place.run("memories", "show", kept, "--json")))["title"] == "Zebras are stripped"
    assert failed(place.run("memories", "edit", kept[-6:], *where), 2)[0].startswith(
        "error: nothing to change: say it with"
    )
    refused = failed(place.run("memories", "edit", kept[-6:], "--title", " ", *where))
    assert refused[0].startswith("error: title: ")
    assert place.client.forget(kept)[0] == (kept,)


def test_a_memory_whose_row_cannot_be_read_is_forgotten_as_its_hint_says(place: Place) -> None:
    kept = place.client.remember(record(place.shop, 42, title="Zebras"))["record_id"]
    with closing(apsw.Connection(str(place.home / "kiro-learn.db"))) as database:
        database.execute("UPDATE memory_records SET title = CAST(x'ff' AS TEXT) WHERE record_id = ?", (kept,))
    error, hint = failed(place.run("memories", "show", kept))
    assert (error, hint) == (f"error: the row of {kept} cannot be read", f"hint:  kiro-learn memories forget {kept}")
    assert done(place.run(*hint.split()[2:], "--yes", "--project", "web-shop")).endswith("1 memory forgotten\n")
    assert "no memory has the id" in failed(place.run("memories", "show", kept))[0]


def test_everywhere_is_every_project(place: Place) -> None:
    found = json.loads(done(place.run("search", "expiry", "--everywhere", "--json")))
    assert len({hit["memory"]["namespace"] for hit in found["hits"][:2]}) == 2
    assert found["project"] is None
    assert json.loads(done(place.run("memories", "list", "--everywhere", "--json")))["total"] == 4
    assert "web-shop · " in done(place.run("search", "expiry", "--everywhere"))


def test_finding_nothing_is_done(place: Place) -> None:
    said = done(place.run("search", "zebra", "--mode", "lexical", "--project", "web-shop"))
    assert said.startswith('No memory in web-shop matches "zebra" (')


def test_memories_are_listed_in_part_and_whole(place: Place) -> None:
    lines = done(place.run("memories", "list", "--project", "web-shop", "--limit", "2")).splitlines()
    assert lines[-1] == "2 of 3 memories in web-shop · --all"
    assert done(place.run("memories", "list", "--project", "web-shop", "--all")).endswith(
        "3 of 3 memories in web-shop\n"
    )


def test_a_memory_is_shown_by_the_end_of_its_id(place: Place) -> None:
    said = done(place.run("memories", "show", "K7Q421", "--project", "web-shop"))
    assert said.splitlines()[-1] == "  Id       mr_01JD3V8M2N5R7T9WXYZ0K7Q421"
    shown = json.loads(done(place.run("memories", "show", "q421", "--project", "web-shop", "--json")))
    assert shown == place.client.memory("mr_01JD3V8M2N5R7T9WXYZ0K7Q421")


def test_an_unknown_ending_never_acts(place: Place) -> None:
    error, hint = failed(place.run("memories", "forget", "K7Q499", "--yes", "--project", "web-shop"))
    assert error == 'error: no memory ends in "K7Q499" in web-shop'
    assert hint.startswith("hint:  closest: …K7Q42")


def test_nothing_is_deleted_unasked(place: Place) -> None:
    completed = place.run("memories", "forget", "K7Q421", "--project", "web-shop")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.splitlines()[-1] == "hint:  the same command with --yes"
    assert place.client.memory("mr_01JD3V8M2N5R7T9WXYZ0K7Q421")


def test_what_is_forgotten_is_gone(place: Place) -> None:
    namespace = f"/actor/ana/project/{HOME_PROJECT[0]}/"
    place.client.import_memories([record(namespace, number) for number in (40, 41)])
    said = done(place.run("memories", "forget", "K7Q440", "K7Q441", "K7Q440", "--yes", "--project", "api"))
    assert said.startswith("✓ 2 memories forgotten\n")
    assert place.client.memories(namespace=namespace)["total"] == 1


def test_what_holds_the_same_words_is_shown_and_goes_on_request(place: Place) -> None:
    """A turn is learned as a rule and as an answer that quotes the rule."""
    namespace, quoted = f"/actor/ana/project/{HOME_PROJECT[0]}/", "Rotate the signing key every single week."
    place.client.import_memories(
        [record(namespace, number, title=f"Key {number}", summary=f"{quoted} {number}") for number in (50, 51, 52)]
    )
    shown = place.run("memories", "forget", "K7Q450", "--project", "api").stderr
    assert "  stays  …K7Q452  Key 52\n" in shown
    assert "2 more hold the same words: --same-words forgets them too\n" in shown
    said = done(place.run("memories", "forget", "K7Q450", "--yes", "--project", "api"))
    assert said == "✓ 1 memory forgotten\n! 2 more hold the same words: …K7Q452, …K7Q451\n"
    asked = ("memories", "forget", "K7Q451", "--same-words", "--yes", "--project", "api", "--json")
    answer = json.loads(done(place.run(*asked)))
    assert ([each[-2:] for each in answer["forgotten"]], answer["same_words"]) == (["51", "52"], [])
    assert place.client.memories(namespace=namespace)["total"] == 1


def test_where_nothing_is_found_to_forget_the_project_is_named(place: Place) -> None:
    forget = ("forget", "--session", "of-another-project", "--yes")
    assert done(place.run(*forget, "--project", "api")) == "✓ There is nothing to forget in api\n"
    assert done(place.run(*forget, "--everywhere")) == "✓ There is nothing to forget\n"


def test_flush_learns_what_waits(place: Place) -> None:
    rule = event(place.shop, SHOP[1], 50, "Always use tabs in this repo, never spaces.")
    place.client.post_event(rule)
    answer = json.loads(done(place.run("flush", "--project", "web-shop", "--json")))
    assert (answer["records"], answer["parked"]) == (1, 0)
    assert done(place.run("flush", "--project", "web-shop")).startswith("✓ Nothing waited in web-shop · ")
    (learned,) = [each for each in place.client.memories(namespace=place.shop)["items"] if "tabs" in each["title"]]
    place.client.forget(learned["record_id"])


def test_flush_in_a_folder_that_no_agent_knows(place: Place, tmp_path: Path) -> None:
    assert "Nothing waited in " in done(kiro_learn(place.home, "flush", cwd=tmp_path))


def test_backfill_says_when_nothing_is_missing(place: Place) -> None:
    assert done(place.run("backfill")).startswith("✓ Every memory is findable by meaning already · ")
    assert json.loads(done(place.run("backfill", "--json"))) == {"embedded": 0}


def test_unknown_projects_are_answered_with_the_known(place: Place) -> None:
    error, hint = failed(place.run("search", "x", "--project", "web-shopp"))
    assert (error, hint) == ("error: no project is called web-shopp", "hint:  Perhaps web-shop is meant.")
    error, hint = failed(place.run("search", "x", "--project", "xyzzy"))
    assert sorted(hint.removeprefix("hint:  Known projects: ").removesuffix(".").split(", ")) == ["api", "web-shop"]


def test_a_name_and_a_folder_of_that_name_are_both_reached(place: Place) -> None:
    place.client.store_observation("Kept by its name", project="web-shop-2")
    folder = place.home.parent / "web-shop-2"
    folder.mkdir()
    place.client.store_observation("Kept in its folder", project=folder)
    by_name = place.client.project("web-shop-2")
    assert by_name["namesakes"] == [str(folder)]
    shown = done(place.run("knowledge", "list", "--project", "web-shop-2"))
    assert f"web-shop-2 (not {folder})" in shown
    shown = done(kiro_learn(place.home, "knowledge", "list", cwd=folder))
    assert f"web-shop-2 (not {by_name['namespace']})" in shown
    shown = done(place.run("memories", "list", "--project", by_name["namespace"]))
    assert "Kept by its name" in shown


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (("serach",), 'error: unknown command "serach" · did you mean: kiro-learn search', None),
        (("xyzzy",), 'error: unknown command "xyzzy"', "hint:  kiro-learn help"),
        (("search",), "error: missing argument 'QUERY...'", "hint:  kiro-learn search --help"),
        (("start", "--port", "x"), "error: invalid value for '--port'", "hint:  kiro-learn start --help"),
        (("memories", "show", "x"), 'error: "x" is too short for an id', "hint:  kiro-learn memories list"),
    ],
)
def test_wrong_usage_ends_with_2(place: Place, arguments: tuple[str, ...], error: str, hint: str | None) -> None:
    lines = failed(place.run(*arguments), code=2)
    assert lines[0].startswith(error)
    assert lines[1:] == ([hint] if hint else [])


def test_errors_as_json_are_one_line(place: Place) -> None:
    (line,) = failed(place.run("memories", "show", "ZZZZ", "--json", "--project", "web-shop"))
    assert set(json.loads(line)) == {"error", "hint", "details"}


def test_without_a_daemon_every_verb_says_so(tmp_path: Path) -> None:
    for arguments in (("search", "x"), ("memories", "list"), ("flush",), ("backfill",), *OF_A_DAEMON):
        assert failed(kiro_learn(tmp_path, *arguments)) == [
            "error: the daemon is not running",
            "hint:  kiro-learn start",
        ]


def test_pipes_get_no_escapes_unless_they_are_asked_for(place: Place) -> None:
    assert "\x1b" not in done(place.run("status"))
    assert "\x1b[32m✓\x1b[0m" in done(place.run("status", "--color", "always"))
    assert "\x1b[1m" in done(place.run("--color", "always", "status"))


def test_the_c_locale_gets_ascii(place: Place) -> None:
    assert done(place.run("status", changes={"LC_ALL": "C"})).isascii()
    assert done(place.run("memories", "list", "--project", "web-shop", changes={"LC_ALL": "C"})).isascii()


def test_a_reader_that_has_enough_ends_it_quietly(place: Place) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        completed = subprocess.run(
            [sys.executable, "-m", "kiro_learn", "status"],
            env=environment_for(place.home),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert (completed.returncode, completed.stderr) == (1, b"")


def test_help_names_every_verb(place: Place) -> None:
    said = done(place.run("help", "--all"))
    for verb in (
        "serve",
        "start",
        "stop",
        "restart",
        "status",
        "search",
        "memories history",
        "memories undo",
        "memories forget",
        "flush",
        "backfill",
        "embeddings stats",
        "sessions resume",
        "knowledge add",
        "demo",
    ):
        assert f"\n{verb} " in f"\n{said}"


def test_the_hook_never_fails(place: Place) -> None:
    for arguments in (("hook", "claude-code", "--strange", "x"), ("hook", "claude-code")):
        assert done(place.run(*arguments)) == ""
    assert place.run("hook").returncode == 0


def test_memories_with_stale_files_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "pool.py").write_text("x")
    namespace = f"/actor/ana/project/{SHOP[0]}/"
    with running_daemon(tmp_path / "home") as daemon, Client(daemon.home) as client:
        client.post_event(event(namespace, str(folder), 0, "hello"))
        client.remember(record(namespace, 20, title="The pool", files_touched=["src/old.py", "pool.py"]))
        client.remember(record(namespace, 21, title="No files", files_touched=[]))

        lines = done(kiro_learn(daemon.home, "memories", "list", "--stale", "--project", SHOP[0])).splitlines()
        assert "The pool" in lines[0]
        assert [line.split() for line in lines[1:3]] == [["gone", "src/old.py"], ["changed", "pool.py"]]
        assert lines[3].startswith("1 of 1 memory in shop that cite")
        page = json.loads(done(kiro_learn(daemon.home, "memories", "list", "--stale", "--everywhere", "--json")))
        assert (page["total"], page["items"][0]["files_changed"]) == (1, ["pool.py"])

        (folder / "src").mkdir()
        (folder / "src" / "old.py").write_text("x")
        for name in ("src/old.py", "pool.py"):
            os.utime(folder / name, (0, 0))
        said = done(kiro_learn(daemon.home, "memories", "list", "--stale", "--project", SHOP[0]))
        assert said == "No memory in shop cites a file that is gone or was changed since.\n"


def test_no_command_runs_into_what_it_does(place: Place) -> None:
    listed = done(place.run("help", "--all")).splitlines()
    assert all(re.match(r"[a-z]+( [a-z]+)*  +[A-Z]", line) for line in listed)


def test_help_of_one_command_is_what_its_own_help_says_with_every_agents_name(place: Place) -> None:
    said = done(place.run("help", "install"))
    assert said == done(place.run("install", "--help"))
    for agent in AGENTS:
        assert agent in said
    assert "Stop the service" in done(place.run("help", "service", "uninstall"))
    assert failed(place.run("help", "service", "foo"), 2) == [
        "error: no such command 'foo'",
        "hint:  kiro-learn service --help",
    ]


def test_no_sentence_of_the_list_of_commands_is_cut_off(place: Place) -> None:
    assert [line for line in done(place.run("--help")).splitlines() if line.endswith("...")] == [
        "Usage: kiro-learn [OPTIONS] [COMMAND] [ARGS]..."
    ]
