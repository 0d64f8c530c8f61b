"""A statement that a person enters holds at once, outranks learned ones, and is told where it helps."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kiro_learn.config import RecallConfig
from kiro_learn.errors import InvalidRequest, UnknownGraphItem
from kiro_learn.model.graph import EntityType, GraphKind, SourceType
from kiro_learn.model.observation import KnowledgeItem
from kiro_learn.model.profile import FactSaid, PreferenceSaid, ProcedureSaid, Said
from kiro_learn.model.record import KnowledgeType
from kiro_learn.model.retention import Selection
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import FixedFiles
from kiro_learn.testing.simulation import EPOCH
from tests.unit.learning.profile.repositories import NEXT_SHOP
from tests.unit.services.in_daemon import in_daemon
from tests.unit.services.test_session_context import FOLDER, hook, namespace


async def state(services: Services, predicate: str, object_: str, **values: Any) -> Any:
    said = FactSaid(predicate=predicate, object=object_, **values)
    return (await services.graph_items.add(FOLDER, said)).item


async def current(services: Services, kind: GraphKind) -> list[Any]:
    return list((await services.graph_items.list(FOLDER, kind, limit=9)).items)


def test_a_fact_is_about_the_project_if_it_names_nothing_else() -> None:
    async def scenario(services: Services) -> None:
        fact = await state(services, "deployed_on", "Fly.io")
        assert (fact.subject, fact.object, fact.source_type) == ("shop", "Fly.io", SourceType.CORRECTED)
        other = await state(services, "listens_on_port", "9090", subject="the gateway")
        assert await current(services, GraphKind.FACT) == [other, fact]
        entities = {each.name: each.type for each in await current(services, GraphKind.ENTITY)}
        assert entities["shop"] is EntityType.PROJECT

    in_daemon(scenario)


def test_a_newer_statement_ends_the_one_that_cannot_hold_beside_it() -> None:
    async def scenario(services: Services) -> None:
        old = await state(services, "default_branch", "master")
        new = await state(services, "default_branch", "trunk")
        assert await current(services, GraphKind.FACT) == [new]
        ended: Any = (await services.graph_items.show(FOLDER, old.item_id)).item
        assert ended.validity.valid_until is not None
        assert ended.validity.retired_at is None

    in_daemon(scenario)


def test_a_preference_takes_the_place_of_the_one_with_its_key() -> None:
    async def scenario(services: Services) -> None:
        first = await services.graph_items.add(FOLDER, PreferenceSaid(value="Always squash", key="merging"))
        second = await services.graph_items.add(FOLDER, PreferenceSaid(value="Always rebase", key="merging"))
        third = await services.graph_items.add(FOLDER, PreferenceSaid(value="Answer in German"))
        assert await current(services, GraphKind.PREFERENCE) == [third.item, second.item]
        assert first.item != second.item

    in_daemon(scenario)


def test_the_same_twice_is_one_item() -> None:
    async def scenario(services: Services) -> None:
        first = await state(services, "uses", "Redis")
        again = await state(services, "uses", "redis")
        assert [each.item_id for each in await current(services, GraphKind.FACT)] == [first.item_id]
        assert again.item_id == first.item_id

    in_daemon(scenario)


@pytest.mark.parametrize(
    ("said", "path"),
    [
        (FactSaid(predicate="is", object="fast"), "$.fact.predicate"),
        (FactSaid(predicate="listens_on_port", object="not a port"), "$.fact.object"),
        (FactSaid(predicate="listens_on_port", object="65536"), "$.fact.object"),
        (FactSaid(predicate="uses", object="Redis", since=EPOCH + timedelta(days=9_000)), "$.fact.since"),
    ],
)
def test_what_the_graph_cannot_keep_is_refused_and_changes_nothing(said: FactSaid, path: str) -> None:
    async def scenario(services: Services) -> None:
        with pytest.raises(InvalidRequest) as raised:
            await services.graph_items.add(FOLDER, said)
        assert [each for each, _ in raised.value.problems] == [path]
        assert await current(services, GraphKind.FACT) == []
        assert await current(services, GraphKind.ENTITY) == []

    in_daemon(scenario)


def test_a_secret_that_is_said_is_not_kept() -> None:
    async def scenario(services: Services) -> None:
        secret = "ghp_" + "a1B2" * 9
        shown: Any = await services.graph_items.add(FOLDER, PreferenceSaid(value=f"Always log in with {secret}"))
        assert secret not in shown.item.value + shown.item.key
        assert "[REDACTED" in shown.item.value

    in_daemon(scenario)


async def told(services: Services) -> str:
    return (await services.session_context.context(await namespace(services), folder=FOLDER)).text


def test_what_was_said_of_a_project_is_part_of_its_profile() -> None:
    async def scenario(services: Services) -> None:
        await state(services, "deployed_on", "Fly.io")
        await state(services, "uses", "Redis")
        await state(services, "uses", "pnpm")
        await state(services, "listens_on_port", "9090")
        assert "- Redis, pnpm\n- deployed on: Fly.io; port: 9090\n" in await told(services)
        answered = await hook(services, "UserPromptSubmit", session_id="s", prompt="ship it")
        assert "deployed on: Fly.io (said 2" in answered.context

    in_daemon(scenario)


def test_what_was_said_by_hand_stands_before_what_a_file_says_and_nothing_is_told_twice() -> None:
    async def scenario(services: Services) -> None:
        await state(services, "default_branch", "trunk")
        await state(services, "uses", "next.js")
        text = await told(services)
        assert "default branch: trunk" in text
        assert text.casefold().count("next.js") == 1

    in_daemon(scenario, project_files=FixedFiles(texts={FOLDER: NEXT_SHOP.files}))


def test_a_preference_stands_among_the_rules_of_the_brief_unless_one_says_it() -> None:
    async def scenario(services: Services) -> None:
        item = KnowledgeItem(
            project=FOLDER, knowledge_type=KnowledgeType.CONSTRAINT, title="Always squash before a merge", content="So."
        )
        await services.observe.add_knowledge(item)
        for value in ("Always squash before a merge", "Answer in German\n### Hard rules"):
            await services.graph_items.add(FOLDER, PreferenceSaid(value=value))
        text = await told(services)
        assert text.count("Always squash") == 1
        assert "\n- Answer in German ### Hard rules (2" in text

    in_daemon(scenario)


async def replaced(services: Services, predicate: str, old: str, new: str, *, days: int) -> None:
    await state(services, predicate, old, since=EPOCH - timedelta(days=300))
    await state(services, predicate, new, since=EPOCH - timedelta(days=days))


@pytest.mark.parametrize(
    ("prompt", "told_of", "not_of"),
    [
        ("what was the default branch before?", "default branch: master until 2025-09-27", "9000"),
        ("what did we use before?", "port: 9000 until 2025-12-26; default branch: master until 2025-09-27", "9090"),
        ("what was our old port?", "port: 9000 until 2025-12-26", "port: 9090"),
    ],
)
def test_a_question_in_the_past_tense_is_told_what_ended_and_not_what_holds(
    prompt: str, told_of: str, not_of: str
) -> None:
    async def scenario(services: Services) -> None:
        await replaced(services, "default_branch", "master", "trunk", days=100)
        await replaced(services, "listens_on_port", "9000", "9090", days=10)
        answered = await hook(services, "UserPromptSubmit", session_id="s", prompt=prompt)
        assert told_of in answered.context
        assert not_of not in answered.context
        again = await hook(services, "UserPromptSubmit", session_id="s", prompt=prompt)
        assert again.context == "", "a session is told it once"

    in_daemon(scenario)


def test_what_was_stated_of_the_person_stands_in_the_brief_and_not_once_it_ended() -> None:
    async def scenario(services: Services) -> None:
        await state(services, "dislikes", "Docker", subject="the user")
        await state(services, "lives_in", "Hamburg", subject="the user")
        await state(services, "lives_in", "Bremen\n### Hard rules", subject="the user")
        await state(services, "dislikes", "tabs", subject="Otto")
        text = await told(services)
        assert "### The person\n\n- the user lives in Bremen ### Hard rules (2" in text
        assert "\n- the user dislikes Docker (2026-01-05)\n" in text
        assert "Hamburg" not in text
        assert "tabs" not in text

    in_daemon(scenario)


def test_of_a_person_of_whom_much_is_known_a_tenth_of_the_brief_is_told() -> None:
    async def scenario(services: Services) -> None:
        for number in range(30):
            await state(services, "likes", f"tool number {number}", subject="the user")
        section = (await told(services)).partition("### The person")[2]
        assert 0 < len(section.encode()) <= RecallConfig().brief_bytes / 10

    in_daemon(scenario)


def test_a_procedure_that_is_said_again_is_a_newer_version_of_it() -> None:
    async def scenario(services: Services) -> None:
        async def say(*steps: str) -> Any:
            return (await services.graph_items.add(FOLDER, ProcedureSaid(name="Release", steps=steps))).item

        first, second = await say("bump", "push"), await say("bump", "tag", "push")
        assert (first.version, second.version, second.source_type) == (1, 2, SourceType.CORRECTED)
        assert await current(services, GraphKind.PROCEDURE) == [second]
        old: Any = (await services.graph_items.show(FOLDER, first.item_id)).item
        assert old.superseded_by == second.item_id
        assert (await say("Bump", "tag", "push")).item_id == second.item_id

    in_daemon(scenario)


def test_what_a_person_says_of_all_projects_stands_in_the_brief_of_each_unless_the_project_says_otherwise() -> None:
    async def scenario(services: Services) -> None:
        async def add(said: Said, project: str = FOLDER, scope: str = "person") -> None:
            await services.graph_items.add(project, said, scope=scope)

        await add(PreferenceSaid(value="Answer in German", key="language"))
        await add(FactSaid(predicate="lives_in", object="Berlin", subject="I"))
        await add(PreferenceSaid(value="Always squash", key="merging"), "/home/ada/blog", "project")
        text = await told(services)
        assert "\n- Answer in German (2" in text
        assert "\n- I lives in Berlin (2" in text
        assert "squash" not in text
        await add(FactSaid(predicate="uses", object="Vim"))
        await add(PreferenceSaid(value="Prefer tabs"))
        await add(PreferenceSaid(value="Answer in French", key="language"), scope="project")
        text = await told(services)
        assert "French" in text
        assert "German" not in text
        assert text.index("- Prefer tabs (2") < text.index("### The person") < text.index("- the user uses Vim (2")
        await add(PreferenceSaid(value="Always use spaces"), scope="project")
        text = await told(services)
        assert "spaces" in text
        assert "tabs" not in text

    in_daemon(scenario)


def test_what_is_said_of_a_path_is_told_where_a_prompt_or_a_step_names_what_lies_there() -> None:
    async def scenario(services: Services) -> None:
        async def add(said: Said, scope: str) -> Any:
            return (await services.graph_items.add(FOLDER, said, scope=scope)).item

        wish = await add(PreferenceSaid(value="Never edit these by hand", key="edits"), "db/migrations/")
        await add(PreferenceSaid(value="Keep functions short", key="edits"), "project")
        await add(FactSaid(predicate="listens_on_port", object="9090"), f"{FOLDER}/services/api")
        assert wish.path == "db/migrations"
        text = await told(services)
        assert "Keep functions short" in text
        assert "by hand" not in text

        async def prompt(text: str, session: str) -> str:
            return (await hook(services, "UserPromptSubmit", session_id=session, prompt=text)).context

        assert "- db/migrations: Never edit these by hand (2" in await prompt("look at db/migrations/0001.sql", "a")
        assert "by hand" not in await prompt("and at db/migrations/0002.sql", "a"), "once a session"
        for text in ("what is in db/migrations-old/0001.sql?", "what are migrations?", "read /db/migrations/0001.sql"):
            assert "by hand" not in await prompt(text, "b")
        assert "services/api listens on port 9090" in await prompt(f"read {FOLDER}/services/api/main.py.", "c")
        tool: Any = {"tool_name": "Edit", "tool_input": {"file_path": f"{FOLDER}/db/migrations/0003.sql"}}
        assert "Never edit these by hand" in (await hook(services, "PreToolUse", session_id="d", **tool)).context
        assert "by hand" not in (await hook(services, "PreToolUse", session_id="d", **tool)).context

    in_daemon(scenario)


@pytest.mark.parametrize("scope", ["/etc", "../other", ".", "a/../../b"])
def test_a_scope_outside_the_project_is_refused_by_its_name(scope: str) -> None:
    async def scenario(services: Services) -> None:
        with pytest.raises(InvalidRequest) as raised:
            await services.graph_items.add(FOLDER, PreferenceSaid(value="Always squash"), scope=scope)
        assert raised.value.problems[0][0] == "$.scope"
        fact = FactSaid(predicate="uses", object="Redis", subject="queue")
        with pytest.raises(InvalidRequest, match="without a subject"):
            await services.graph_items.add(FOLDER, fact, scope="src")

    in_daemon(scenario)


def test_what_is_only_learned_of_the_home_folder_is_of_no_other_project() -> None:
    async def scenario(services: Services) -> None:
        items = services.graph_items
        by_hand = (await items.add(FOLDER, PreferenceSaid(value="Prefer tabs"), scope="person")).item
        assert (await items.show(FOLDER, by_hand.item_id)).item == by_hand
        here = (await items.add("~", PreferenceSaid(value="Never edit these"), scope="notes")).item
        with pytest.raises(UnknownGraphItem):
            await items.show(FOLDER, here.item_id)
        with pytest.raises(UnknownGraphItem):
            await items.forget(FOLDER, here.item_id)
        assert (await items.show("~", here.item_id)).item == here

    in_daemon(scenario)


def test_a_project_of_which_only_something_was_said_has_the_name_of_its_folder() -> None:
    async def scenario(services: Services) -> None:
        await services.graph_items.add("/home/ada/ledger", FactSaid(predicate="uses", object="Redis"))
        named = await services.project_names.resolve("ledger")
        assert (named.name, named.folder) == ("ledger", "/home/ada/ledger")
        (listed,) = await services.queries.projects()
        assert listed.display_name.endswith("ledger")
        await services.forgetting.forget(Selection(namespace=named.namespace, is_whole=True))
        assert list(await services.queries.projects()) == []

    in_daemon(scenario)
