"""What was learned besides memories is listed, shown and forgotten from the terminal, with a real daemon."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.client import KiroLearn
from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import Completed, done, event, failed, kiro_learn
from tests.integration.cli.test_activity_verbs import project_in
from tests.integration.daemon_process import running_daemon

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


class Place:
    """A daemon that learned what was said in one project, and the project's folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder

    def run(self, *arguments: str) -> Completed:
        return kiro_learn(self.home, *arguments, cwd=self.folder)

    def json(self, *arguments: str) -> Any:
        return json.loads(done(self.run(*arguments, "--json")))


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
        yield Place(home, folder)


def facts(place: Place, *arguments: str) -> set[tuple[str, str]]:
    return {(each["predicate"], each["object"]) for each in place.json("facts", "list", *arguments)["items"]}


def test_what_holds_is_listed_and_what_held_too(place: Place) -> None:
    assert facts(place) == {("uses", "Valkey"), ("listens_on_port", "9090")}
    assert ("uses", "Redis") in facts(place, "--all")
    assert facts(place, "--text", "valk") == {("uses", "Valkey")}
    assert done(place.run("facts", "list", "--text", "zebra")) == "No facts of web-shop are like that.\n"
    assert done(place.run("preferences", "list")).endswith("\n1 preference of web-shop\n")


def test_a_line_says_what_is_known(place: Place) -> None:
    assert "uses Valkey" in done(place.run("facts"))
    assert "Release: bump the version → push the tag" in done(place.run("procedures", "list"))
    assert "workflow: Always run the linter before every commit" in done(place.run("preferences", "list"))
    assert "Valkey (tool)" in done(place.run("entities", "list"))


def test_one_is_shown_with_its_evidence_and_forgotten(place: Place) -> None:
    (item,) = place.json("procedures", "list")["items"]
    assert "1 event speaks for it" in done(place.run("procedures", "show", item["id"]))
    assert len(place.json("procedures", "show", item["id"])["evidence"]) == 1
    assert "Forgotten" in done(place.run("procedures", "forget", item["id"]))
    assert place.json("procedures", "list")["items"] == []
    assert "has no item with the id" in failed(place.run("procedures", "show", item["id"]))[0]
    assert "No procedures are known" in done(place.run("procedures"))


def test_the_block_of_a_prompt_is_shown_and_explained(place: Place) -> None:
    told = done(place.run("context", "which port does web-shop use?", "--graph"))
    assert "- web-shop listens on port 9090 (confidence: " in told
    assert "8080" not in told
    explained = done(place.run("context", "which port does web-shop use?", "--graph", "--explain"))
    assert "ask fact · words: port web-shop use · known: web-shop" in explained
    assert re.search(r" = \(keyword 0\.01\d\d \+ .*\) \* confidence [01]\.", explained)
    assert place.json("context", "which port does web-shop use?", "--graph")["query"]["intent"] == "ask_fact"
    assert "### Preferences" in done(place.run("context", "--graph"))
    refused = place.run("context", "x", "--profile", "literal")
    assert (refused.returncode, "goes with --graph only" in refused.stderr) == (2, True)


def test_one_is_put_right_by_hand(place: Place) -> None:
    (port,) = [each for each in place.json("facts", "list")["items"] if each["predicate"] == "listens_on_port"]
    assert "listens on port 7070" in done(place.run("facts", "edit", port["id"], "--object", "7070"))
    assert ("listens_on_port", "7070") in facts(place)
    assert ("listens_on_port", "9090") not in facts(place)
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
