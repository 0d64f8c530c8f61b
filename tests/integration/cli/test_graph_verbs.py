"""Items of the graph are listed, shown and forgotten from the terminal, with a real daemon."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from kiro_learn.adapters.sqlite.opening import open_sqlite_storage
from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from kiro_learn.config import StorageConfig
from kiro_learn.model.draft import GraphDrafts, Source
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import Namespace
from kiro_learn.pipelines.learn.graph import GraphLearner
from kiro_learn.ports.clock import ClockAndIds
from kiro_learn.testing.simulation import in_place
from kiro_learn.testing.storage import transact_one
from tests.integration.cli.command_line import Completed, done, event, failed, kiro_learn
from tests.integration.cli.terminal import at_terminal
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.daemon_process import running_daemon
from tests.unit.learning.graph.graphs import Numbers, way

SETTINGS = {
    "KIRO_LEARN_EMBEDDING_ENABLED": "no",
    "KIRO_LEARN_LLM_BACKEND": "extractive",
    "KIRO_LEARN_GRAPH_LEARN": "yes",
}
SAID = (
    "We use Redis for the sessions. The port is 8080.",
    "We switched from Redis to Valkey. No, the port is 9090, not 8080.",
    "Always run the linter before every commit.",
    "To release: bump the version, then push the tag.",
)
"""The events of the story. Only a model learns from the last one."""


class Place:
    """A daemon that learned one project's events, and the project's folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder

    def run(self, *arguments: str) -> Completed:
        return kiro_learn(self.home, *arguments, cwd=self.folder)

    def json(self, *arguments: str) -> Any:
        return json.loads(done(self.run(*arguments, "--json")))


def read_by_a_model(home: Path, namespace: Namespace, event_id: EventId) -> None:
    """Put the procedure that a model would learn from an event."""
    said_at = datetime(2026, 1, 4, 10, tzinfo=UTC)
    release = way(0, "bump the version", "push the tag", name="Release", source=Source(event_id, "s1", said_at))
    learner = GraphLearner(clock=cast("ClockAndIds", Numbers()), offload=in_place, enabled=True)

    async def work() -> None:
        storage = await open_sqlite_storage(home / "kiro-learn.db", StorageConfig(), utc_now=lambda: datetime.now(UTC))
        drafts = GraphDrafts(procedures=[release])
        await transact_one(storage, lambda transaction: learner.commit(transaction, namespace, drafts))
        await storage.close()

    trio.run(work)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("graph")
    home, folder = root / "home", project_in(root / "web-shop")
    with running_daemon(home, SETTINGS), Client(home) as client:
        with KiroLearn(folder, home=home) as memory:
            memory.store_knowledge("Tokens expire", "After 15 minutes.", knowledge_type="decision")
        namespace = client.memories()["items"][0]["namespace"]
        _, _, actor_id, _, project_id, _ = namespace.split("/")
        for number, text in enumerate(SAID, start=1):
            told = event(namespace, str(folder), number, text)
            said = {"actor_id": actor_id, "valid_time": f"2026-01-{number:02}T10:00:00Z"}
            client.post_event(told | said)
        client.flush(project_id)
    read_by_a_model(home, Namespace(namespace), EventId(told["event_id"]))
    with running_daemon(home, SETTINGS):
        yield Place(home, folder)


def facts(place: Place, *arguments: str) -> set[tuple[str, str]]:
    return {(each["predicate"], each["object"]) for each in place.json("facts", "list", *arguments)["items"]}


def test_what_holds_is_listed_and_what_held_too(place: Place) -> None:
    assert facts(place) == {("uses", "Valkey"), ("listens_on_port", "9090")}
    assert ("uses", "Redis") in facts(place, "--all")
    assert facts(place, "--text", "valk") == {("uses", "Valkey")}
    assert done(place.run("facts", "list", "--text", "zebra")) == "No facts of web-shop match.\n"
    assert done(place.run("preferences", "list")).endswith("\n1 preference of web-shop\n")


def test_a_line_says_what_is_known(place: Place) -> None:
    assert "uses Valkey" in done(place.run("facts"))
    assert "Release: bump the version → push the tag" in done(place.run("procedures", "list"))
    assert "workflow: Always run the linter before every commit" in done(place.run("preferences", "list"))
    assert "Valkey (tool)" in done(place.run("entities", "list"))


def test_the_end_of_an_id_names_an_item_of_its_kind_only(place: Place) -> None:
    (valkey,) = place.json("facts", "list", "--text", "valkey")["items"]
    end = valkey["id"][-6:]
    assert f"…{end}  web-shop uses Valkey\n" in done(place.run("facts"))
    assert place.json("facts", "show", end.lower())["id"] == valkey["id"]
    assert place.json("facts", "show", f"…{end}")["id"] == valkey["id"]
    (redis,) = place.json("facts", "list", "--all", "--text", "redis")["items"]
    assert place.json("facts", "show", redis["id"][-8:])["id"] == redis["id"]
    for verb in ("show", "edit", "forget"):
        extra = {"show": (), "edit": ("--description", "x"), "forget": ("--yes",)}[verb]
        said = failed(place.run("entities", verb, valkey["id"], *extra), 2)
        assert said == [f"error: {valkey['id']} is the id of no entity", f"hint:  kiro-learn facts show {valkey['id']}"]
        assert f'error: no entity ends in "{end}" in web-shop' in failed(place.run("entities", verb, end, *extra))
    assert "too short" in failed(place.run("facts", "show", "x"), 2)[0]
    assert place.json("facts", "show", valkey["id"])["id"] == valkey["id"]


def test_what_is_said_by_hand_is_kept_and_told(place: Place, tmp_path: Path) -> None:
    folder = project_in(tmp_path / "gateway")

    def run(*arguments: str) -> Completed:
        return kiro_learn(place.home, *arguments, cwd=folder)

    assert "gateway deployed on Fly.io\n" in done(run("facts", "add", "deployed on", "Fly.io"))
    assert "queue listens on port 9092\n" in done(run("facts", "add", "listens_on_port", "9092", "--of", "queue"))
    said = done(run("preferences", "add", "Answer in German", "--about", "language", "--json"))
    assert json.loads(said)["key"] == "language"
    assert json.loads(done(run("facts", "list", "--as-of", f"{datetime.now(UTC):%Y-%m-%d}", "--json")))["items"]
    assert "No facts" in done(run("facts", "list", "--as-of", f"{datetime.now(UTC) - timedelta(days=1):%Y-%m-%d}"))
    (queue,) = json.loads(done(run("entities", "list", "--text", "queue", "--json")))["items"]
    done(run("facts", "add", "responsible_for", "queue", "--of", "Dana"))
    done(run("entities", "forget", queue["id"], "--yes"))
    assert "queue" not in done(run("facts", "list", "--all"))
    refused = failed(run("facts", "add", "is", "fast"))
    assert "deployed_on" in " ".join(refused)
    shown = done(run("projects", "show"))
    assert "deployed on" in shown
    assert "Fly.io" in shown
    with KiroLearn(folder, home=place.home) as memory:
        assert "- Answer in German (2" in memory.context().text


def test_a_list_says_that_there_is_more_and_pages_as_far_as_it_is_asked(place: Place) -> None:
    page = place.json("entities", "list", "--limit", "1")
    assert (len(page["items"]), page["next_cursor"]) == (1, page["items"][0]["id"])
    assert done(place.run("entities", "--limit", "1")).endswith("\n1 entity of web-shop · more: --limit\n")
    assert place.json("entities", "list", "--limit", "500")["next_cursor"] is None
    total = len(place.json("entities", "list")["items"])
    assert done(place.run("entities", "--limit", f"{total}")).endswith(f"\n{total} entities of web-shop\n")
    assert failed(place.run("entities", "list", "--all"), 2)[0] == "error: no such option '--all'"


def test_the_block_of_a_prompt_is_shown_and_explained(place: Place) -> None:
    told = done(place.run("context", "which port does web-shop use?", "--graph"))
    assert "- web-shop listens on port 9090 (confidence: " in told
    assert "listens on port 8080" not in told
    explained = done(place.run("context", "which port does web-shop use?", "--graph", "--explain"))
    assert "ask fact · words: port web-shop use · known: web-shop" in explained
    assert re.search(r" = \(keyword 0\.01\d\d \+ .*\) \* confidence [01]\.", explained)
    assert place.json("context", "which port does web-shop use?", "--graph")["query"]["intent"] == "ask_fact"
    assert "### Preferences" in done(place.run("context", "--graph"))
    nothing = place.run("context", "which port does web-shop use?", "--graph", "--tokens", "9")
    assert nothing.stderr.endswith("knows nothing that is close enough and fits into 9 tokens.\n")
    refused = place.run("context", "x", "--profile", "literal")
    assert (refused.returncode, "needs --graph" in refused.stderr) == (2, True)


def test_one_is_put_right_by_hand(place: Place) -> None:
    (port,) = [each for each in place.json("facts", "list")["items"] if each["predicate"] == "listens_on_port"]
    assert "listens on port 7070" in done(place.run("facts", "edit", port["id"], "--object", "7070"))
    assert ("listens_on_port", "7070") in facts(place)
    assert ("listens_on_port", "9090") not in facts(place)
    assert "port 9090  (never true)" in done(place.run("facts", "list", "--all"))
    again = place.run("facts", "edit", port["id"], "--object", "7071")
    assert (again.returncode, "was already changed, or no longer holds" in again.stderr) == (1, True)
    (shop,) = [each for each in place.json("entities", "list")["items"] if each["name"] == "web-shop"]
    edited = place.json("entities", "edit", shop["id"], "--description", "sells shoes", "--alias", "the shop")
    assert (edited["description"], edited["aliases"]) == ("sells shoes", ["the shop"])
    assert "**web-shop** (project): sells shoes" in done(place.run("context", "is the shop open?", "--graph"))
    (told,) = place.json("preferences", "list")["items"]
    done(place.run("preferences", "edit", told["id"], "--value", "Run the linter,\nthen the tests"))
    assert "workflow: Run the linter, then the tests\n" in done(place.run("preferences"))
    (told,) = place.json("preferences", "list")["items"]
    shown = done(place.run("preferences", "show", told["id"]))
    assert f"Run the linter,\n{' ' * 20}then the tests\n" in shown
    refused = place.run("facts", "edit", port["id"])
    assert (refused.returncode, "say it with --object" in refused.stderr) == (2, True)


def test_an_earlier_version_is_marked_and_is_that_of_its_time(place: Place) -> None:
    (told,) = place.json("procedures", "list")["items"]
    step = "read all that was written about it, by whomever and however long ago that may be"
    done(place.run("procedures", "edit", told["id"], "--step", step, "--step", "push"))
    lines = done(place.run("procedures", "list", "--all")).splitlines()
    # Without a terminal, nothing is cut.
    assert [line[9:] for line in lines[:-1]] == [
        f"Release: {step} → push",
        f"Release: bump the version → push the tag  (2026-01-04 until {datetime.now(UTC):%Y-%m-%d})",
    ]
    (then,) = place.json("procedures", "list", "--as-of", "2026-01-31")["items"]
    assert then["id"] == told["id"]
    assert place.json("procedures", "list", "--as-of", "2025-12-31")["items"] == []


def test_one_is_shown_with_its_evidence_and_forgotten(place: Place) -> None:
    newer, *earlier = place.json("procedures", "list", "--all")["items"]
    if not earlier:  # the earlier test of editing may run in another process
        done(place.run("procedures", "edit", newer["id"], "--step", "bump", "--step", "push"))
        newer, *earlier = place.json("procedures", "list", "--all")["items"]
    (item,) = earlier
    assert "1 event supports it" in done(place.run("procedures", "show", item["id"]))
    assert len(place.json("procedures", "show", item["id"])["evidence"]) == 1
    assert failed(place.run("procedures", "forget", item["id"]), 2)[-2].endswith("there is no terminal to ask in")
    assert place.json("procedures", "show", item["id"])["superseded_by"] == newer["id"]
    for each in (item, newer):
        assert "1 procedure forgotten" in done(place.run("procedures", "forget", each["id"], "--yes"))
    assert place.json("procedures", "list")["items"] == []
    assert "web-shop has no procedure with the id" in failed(place.run("procedures", "show", item["id"]))[0]
    assert "No procedures are known" in done(place.run("procedures"))


def test_a_refusal_to_ask_is_one_line_of_json_if_that_is_asked_for(place: Place) -> None:
    item = place.json("facts", "list")["items"][0]["id"]
    for arguments in (
        ("facts", "forget", item),
        ("forget", "--since", "2026-01-01"),
        ("projects", "forget", "web-shop"),
    ):
        refused = place.run(*arguments, "--json")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert json.loads(refused.stderr)["hint"] == "the same command with --yes"
        assert "goes" in place.run(*arguments).stderr


def test_forgetting_asks_at_a_terminal_and_an_entity_goes_with_its_facts(place: Place) -> None:
    (shop,) = [each for each in place.json("entities", "list")["items"] if each["name"] == "web-shop"]
    where, plain = ("--project", str(place.folder)), {"NO_COLOR": "1"}
    code, lines = at_terminal(place.home, "entities", "forget", shop["id"][-6:], *where, typed="n\n", changes=plain)
    assert (code, lines[-1].endswith("error: nothing was forgotten")) == (1, True)
    head = lines.index("Forget 1 entity")
    assert lines[head + 1 : head + 4] == [
        f"  goes   …{shop['id'][-6:]}  web-shop (project)",
        "         and all that names it",
        "  stays  the events that it was learned from",
    ]
    assert facts(place)
    code, lines = at_terminal(place.home, "entities", "forget", shop["id"], *where, typed="y\n", changes=plain)
    assert (code, lines[-1].endswith("✓ 1 entity forgotten")) == (0, True)
    assert not facts(place)


def test_one_of_two_rules_that_contradict_each_other_is_kept_by_the_command_that_status_shows(
    place: Place, tmp_path: Path
) -> None:
    folder = project_in(tmp_path / "yaml")
    with KiroLearn(folder, home=place.home) as memory:
        for count in (2, 4):
            title = f"Always indent YAML files with {count} spaces"
            memory.store_knowledge(title, title, knowledge_type="constraint")
        assert "contradicts" in memory.context().text
    command = re.search(r"kiro-learn (conflicts keep mr_\w+ --over mr_\w+)", done(place.run("status")))
    assert command is not None
    shown = done(kiro_learn(place.home, "conflicts", cwd=folder))
    assert "with 2 spaces (20" in shown
    assert "\n1 conflict of yaml\n" in shown
    assert " is kept · undo: kiro-learn memories undo mr_" in done(place.run(*command[1].split()))
    assert "0 conflicts of yaml" in done(kiro_learn(place.home, "conflicts", "list", cwd=folder))
    assert "rules contradict" not in done(place.run("status"))


def test_what_is_said_by_hand_has_its_scope_its_versions_and_one_name(place: Place, tmp_path: Path) -> None:
    folder, other = project_in(tmp_path / "queue"), project_in(tmp_path / "blog")

    def run(*arguments: str) -> Any:
        return json.loads(done(kiro_learn(place.home, *arguments, "--json", cwd=folder)))

    everywhere = run("preferences", "add", "Answer in Danish", "--scope", "person")
    assert run("preferences", "show", everywhere["id"])["value"] == "Answer in Danish"
    danish = run("preferences", "edit", everywhere["id"][-6:], "--value", "Answer in danish")
    assert danish["value"] == "Answer in danish"
    listed = done(kiro_learn(place.home, "preferences", cwd=folder))
    assert listed.endswith("and 1 preference of all your projects: kiro-learn preferences --project '~'\n")
    assert "Danish" not in listed
    run("preferences", "edit", danish["id"], "--value", "Answer in Danish")
    assert run("preferences", "add", "Never edit these", "--scope", "db/migrations")["path"] == "db/migrations"
    from_elsewhere = ("preferences", "add", "Keep its order", "--scope", "db/seeds", "--project", str(folder), "--json")
    assert json.loads(done(kiro_learn(place.home, *from_elsewhere, cwd=other)))["path"] == "db/seeds"
    with KiroLearn(other, home=place.home) as memory:
        told = memory.context().text
    assert "- Answer in Danish (2" in told
    assert "Never edit these" not in told
    assert "in db/migrations: Never edit these" in done(kiro_learn(place.home, "preferences", cwd=folder))
    refused = failed(kiro_learn(place.home, "preferences", "add", "x y", "--scope", "/etc", cwd=folder))
    assert refused[0].startswith("error: scope: ")
    versions = [run("procedures", "add", "Ship", *steps)["version"] for steps in (("--step", "a"), ("--step", "b"))]
    assert versions == [1, 2]
    assert re.search(r"Ship: a  \(20\S+ until 20\S+\)", done(kiro_learn(place.home, "procedures", "--all", cwd=folder)))
    for name in ("the mailer", "mail-service"):
        run("facts", "add", "uses", "SMTP", "--of", name)
    ids = {each["name"]: each["id"] for each in run("entities", "list")["items"]}
    merged = run("entities", "merge", ids["the mailer"][-6:], ids["mail-service"])
    assert (merged["id"], merged["aliases"]) == (ids["mail-service"], ["the mailer"])
    assert [each["subject"] for each in run("facts", "list")["items"]] == ["mail-service"]
