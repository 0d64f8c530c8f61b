"""A prompt that is about a slot of the profile is told it in one line, unless it only continues its session."""

from __future__ import annotations

import pytest

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.event import TextBody
from kiro_learn.model.profile import FactSaid, PreferenceSaid, Slot
from kiro_learn.retrieval.query.prompt_kind import MOST_ASKING, MOST_DOING, acts_of, slots_of
from kiro_learn.retrieval.rendering.brief import LINE_BYTES
from kiro_learn.retrieval.rendering.report import HEADING
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import FixedFiles
from tests.unit.learning.profile.repositories import NEXT_SHOP, REPOSITORIES
from tests.unit.services.in_daemon import in_daemon
from tests.unit.services.ordinary_prompts import ASKED_LATER, BY_NAME, GOING_ON, NOT_ABOUT_IT, ORDINARY
from tests.unit.services.test_session_context import FOLDER, hook, namespace, observe, start

LEAST_TOLD = 11
GRAPH = Config(recall=RecallConfig(pipeline="graph"))


def shop() -> FixedFiles:
    return FixedFiles(texts={FOLDER: NEXT_SHOP.files})


async def ask(services: Services, prompt: str, session: str = "s") -> str:
    return (await hook(services, "UserPromptSubmit", session_id=session, prompt=prompt)).context


@pytest.mark.parametrize("config", [Config(), GRAPH], ids=["hybrid", "graph"])
def test_of_twelve_ordinary_prompts_eleven_are_told_what_they_touch(config: Config) -> None:
    async def scenario(services: Services) -> None:
        told = {}
        for number, (prompt, wanted) in enumerate(ORDINARY.items()):
            await start(services, session=f"s{number}")
            context = await ask(services, prompt, session=f"s{number}")
            told[prompt] = wanted in context
            assert len(context.removeprefix(f"{HEADING}\n").encode()) <= LINE_BYTES
        assert sum(told.values()) >= LEAST_TOLD, told

    in_daemon(scenario, project_files=shop(), config=config)


def test_later_prompts_are_told_nothing_unless_they_ask() -> None:
    async def scenario(services: Services) -> None:
        await ask(services, "make the token cache survive a restart")
        assert [prompt for prompt in GOING_ON if await ask(services, prompt)] == []
        for prompt, wanted in ASKED_LATER.items():
            assert wanted in await ask(services, prompt), prompt
        for number, (prompt, wanted) in enumerate(BY_NAME.items()):
            await ask(services, "make the token cache survive a restart", session=f"n{number}")
            assert wanted in await ask(services, prompt, session=f"n{number}"), prompt

    in_daemon(scenario, project_files=shop())


def test_first_prompts_that_want_no_slot_are_told_none() -> None:
    async def scenario(services: Services) -> None:
        told = [prompt for prompt in NOT_ABOUT_IT if await ask(services, prompt, session=prompt)]
        assert told == []

    in_daemon(scenario, project_files=shop())


def test_an_order_to_commit_is_told_what_is_wanted_of_commits_at_any_time() -> None:
    async def scenario(services: Services) -> None:
        wanted = "Write commit messages in the imperative"
        for value, key in ((wanted, "messages"), ("Always squash", "merging"), ("Answer in German", "language")):
            await services.graph_items.add(FOLDER, PreferenceSaid(value=value, key=key))
        assert wanted in await start(services), "always, in the brief"
        await ask(services, "make the token cache survive a restart")
        told = await ask(services, "ok, commit and push it")
        assert f"- {wanted} (2026-01-05)\n" in told
        assert "German" not in told
        assert wanted not in await ask(services, "commit this too"), "once a session"
        await start(services, source="compact")
        assert wanted in await ask(services, "commit"), "and again once its context was emptied"
        assert "squash" in await ask(services, "now merge it")

    in_daemon(scenario, project_files=shop())


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("which port do we listen on?", "port: 9090 ("),
        ("what's our port?", "port: 9090 ("),
        ("what was our old port?", "port: 8080 until"),
        ("what did we use before?", "port: 8080 until"),
        ("did we ever use Kafka?", "service: Kafka until"),
        ("did we ever use MySQL?", ""),
        ("was React replaced before the port was?", ""),
        ("which framework did we use before?", ""),
        ("start the dev server", ""),
        ("which port forwarding rules does nginx need?", ""),
    ],
)
def test_a_prompt_is_told_what_it_asks_of_what_was_stated_and_nothing_else(prompt: str, told: str) -> None:
    async def scenario(services: Services) -> None:
        for predicate, object_ in (("listens_on_port", "8080"), ("listens_on_port", "9090"), ("uses", "Kafka")):
            await services.graph_items.add(FOLDER, FactSaid(predicate=predicate, object=object_))
        await services.graph_items.add(FOLDER, FactSaid(predicate="avoids", object="Kafka"))
        context = await ask(services, prompt)
        assert told in context
        assert bool(context) is bool(told), context

    files = {"package.json": '{"name": "shop", "scripts": {"test": "vitest"}}'}
    in_daemon(scenario, project_files=FixedFiles(texts={FOLDER: files}))


def test_an_order_is_no_talk_of_it() -> None:
    assert [acts_of(said) for said in ("commit", "now commit it", "let's deploy", "commit and push")] == [
        {"commit"},
        {"commit"},
        {"deploy"},
        {"commit", "push"},
    ]
    assert not any(map(acts_of, ("what did the last commit do?", "the deploy failed", "commit " * 100)))


def test_a_session_is_told_a_slot_once_and_again_once_its_context_was_emptied() -> None:
    async def scenario(services: Services) -> None:
        assert "pnpm test" in await ask(services, "how do I run the tests?")
        assert await ask(services, "how do I run the tests?") == ""
        await start(services, source="compact")
        assert "pnpm test" in await ask(services, "how do I run the tests?")

    in_daemon(scenario, project_files=shop())


def test_the_line_stands_above_what_is_remembered_and_within_its_bytes() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "How do I run the tests of the pool", "They need the proxy. " * 400)
        context = await ask(services, "how do I run the tests of the pool?")
        line = "- test: `pnpm test` (package.json)\n"
        assert context.startswith(f"{HEADING}\n{line}\n### How do I run the tests of the pool")
        assert len(context.encode()) <= RecallConfig().context_bytes
        assert context.count(HEADING) == 1
        (report,) = services.retrievals.latest(namespace=None, limit=1)
        assert report.silent_because is None
        assert report.context_bytes == len(context.encode())

    in_daemon(scenario, project_files=shop())


@pytest.mark.parametrize(
    ("recall", "files"),
    [
        (RecallConfig(profile=False), NEXT_SHOP.files),
        (RecallConfig(prompts="none"), NEXT_SHOP.files),
        (RecallConfig(), {}),
        (RecallConfig(), {".git/config": NEXT_SHOP.files[".git/config"]}),
    ],
    ids=["profile off", "prompts none", "no files", "git alone"],
)
def test_where_there_is_none_or_it_is_off_nothing_changes(recall: RecallConfig, files: dict[str, str]) -> None:
    async def scenario(services: Services) -> None:
        assert [prompt for prompt in ORDINARY if await ask(services, prompt, session=prompt)] == []

    in_daemon(scenario, project_files=FixedFiles(texts={FOLDER: files}), config=Config(recall=recall))


def test_a_program_that_asks_what_a_prompt_is_told_gets_the_line() -> None:
    async def scenario(services: Services) -> None:
        told = await services.recall.answer(await namespace(services), TextBody("run the tests"), folder=FOLDER)
        assert told.context == f"{HEADING}\n- test: `pnpm test` (package.json)\n"
        assert (await services.recall.answer(await namespace(services), TextBody("run the tests"))).context == ""

    in_daemon(scenario, project_files=shop())


@pytest.mark.parametrize("name", REPOSITORIES)
def test_in_every_project_a_line_is_short(name: str) -> None:
    async def scenario(services: Services) -> None:
        for number, prompt in enumerate(ORDINARY):
            context = await ask(services, prompt, session=f"s{number}")
            assert len(context.removeprefix(f"{HEADING}\n").encode()) <= LINE_BYTES
            assert context.count("\n") <= HEADING.count("\n") + 2
        assert "test: `" in await ask(services, "run the tests", session="t")

    in_daemon(scenario, project_files=FixedFiles(texts={FOLDER: REPOSITORIES[name].files}))


def test_a_long_prompt_touches_nothing() -> None:
    assert slots_of("run the tests " + "x" * (MOST_DOING - 14), sets_goal=True) == (Slot.TEST,)
    assert slots_of("run the tests " + "x" * MOST_DOING, sets_goal=True) == ()
    assert slots_of("x" * MOST_ASKING + " what is our stack?", sets_goal=True) == ()
    assert slots_of("run " * 100_000, sets_goal=True) == ()
