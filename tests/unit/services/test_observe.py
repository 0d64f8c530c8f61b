"""A direct observation is stored once, unchanged but redacted, and can be found immediately."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import structlog.testing
import trio

from kiro_learn.config import Config, EmbeddingConfig
from kiro_learn.errors import InvalidRequest
from kiro_learn.model.observation import Checkpoint, KnowledgeItem, Observation
from kiro_learn.model.record import KnowledgeType, MemoryRecord, embedded_text
from kiro_learn.model.retrieval import SearchMode
from kiro_learn.services.services import Services
from tests.unit.services.in_daemon import in_daemon

SECRET = "gh" + "p_" + "a1B2c3D4" * 5


def an_observation(**values: Any) -> Observation:
    return Observation(**{"project": "my-api", "type": "file-write", "title": "Modified auth.ts"} | values)


async def kept(services: Services, observation: Observation) -> MemoryRecord:
    return await services.queries.record((await services.observe.observe(observation)).record_id)


def test_an_observation_is_a_record_with_all_that_was_handed_in() -> None:
    async def scenario(services: Services) -> None:
        observation = an_observation(
            text="+ verify(token)\n\n",
            narrative="Added JWT validation middleware",
            concepts=("security",),
            files_read=("src/token.ts",),
            files_modified=("src/auth.ts",),
            session="s-1",
        )
        record = await kept(services, observation)
        assert (record.title, record.summary, record.text) == (
            observation.title,
            observation.narrative,
            observation.text,
        )
        assert (record.capture_type, record.concepts) == ("file-write", ("security",))
        assert (record.files_read, record.files_modified) == (("src/token.ts",), ("src/auth.ts",))
        (event,) = (await services.queries.events(namespace=record.namespace, limit=9, cursor=None)).items
        assert (event.event_id, event.session_id) == (record.source_event_ids[0], "s-1")

    in_daemon(scenario)


def test_an_observation_is_found_at_once_and_embedded_in_the_background() -> None:
    async def scenario(services: Services) -> None:
        record = await kept(services, an_observation(text="+ verify(token)"))
        found = await services.search.search(record.namespace, "verify", limit=5, mode=SearchMode.LEXICAL)
        assert found.records == (record,)
        await trio.sleep(10)
        assert (await services.learn.embedding_state()).embedded == 1

    in_daemon(scenario)


def test_title_content_and_concepts_are_embedded_up_to_two_thousand_characters() -> None:
    async def scenario(services: Services) -> None:
        short = await kept(services, an_observation(text="the text", narrative="the story", concepts=("a", "b")))
        assert embedded_text(short) == "Modified auth.ts\n\nthe story\n\nthe text\n\na, b"
        long = await kept(services, an_observation(text="word " * 10_000))
        assert len(embedded_text(long)) == 2_000
        assert embedded_text(long).count("Modified auth.ts") == 1

    in_daemon(scenario)


def test_everything_that_is_handed_in_is_redacted() -> None:
    async def scenario(services: Services) -> None:
        said = f"it is {SECRET} there"
        observation = an_observation(
            title=said, text=said, narrative=said, concepts=(said,), files_read=(said,), type=said
        )
        assert SECRET not in str(attrs.asdict(await kept(services, observation)))
        item = KnowledgeItem(
            project="my-api",
            knowledge_type=KnowledgeType.DECISION,
            title="t",
            content=said,
            reason=said,
            alternatives=(said,),
        )
        done = await services.observe.add_knowledge(item)
        assert SECRET not in str(attrs.asdict(await services.queries.record(done.record_id)))
        page = await services.queries.events(namespace=None, limit=9, cursor=None)
        assert SECRET not in str(page.items)

    in_daemon(scenario)


def test_an_observation_of_nothing_but_private_text_is_kept_without_it() -> None:
    async def scenario(services: Services) -> None:
        record = await kept(services, an_observation(title="<private>x</private>", text="<private>y</private>"))
        assert record.title
        assert record.summary
        assert "y" not in record.text

    in_daemon(scenario)


@pytest.mark.parametrize("unseen", ["\x00", "\u200b", "\u202e \u2060"], ids=["zero", "no width", "direction"])
def test_a_narrative_in_which_nothing_can_be_seen_is_no_summary(unseen: str) -> None:
    async def scenario(services: Services) -> None:
        assert (await kept(services, an_observation(narrative=unseen, text="y"))).summary == "y"
        assert (await kept(services, an_observation(title="z", narrative=unseen, text=unseen))).summary == "z"

    in_daemon(scenario)


def test_a_repeat_within_the_window_of_its_type_is_not_kept() -> None:
    async def scenario(services: Services) -> None:
        for capture_type, window in (
            ("file-read", 60),
            ("file-write", 10),
            ("command", 30),
            ("research", 120),
            ("x", 30),
        ):
            observation = an_observation(type=capture_type, narrative=f"about {capture_type}")
            first = await services.observe.observe(observation)
            await trio.sleep(window - 0.001)
            again = await services.observe.observe(observation)
            assert (again.record_id, again.is_repeat) == (first.record_id, True)
            await trio.sleep(0.001)
            assert not (await services.observe.observe(observation)).is_repeat

    in_daemon(scenario)


def test_what_differs_in_project_type_title_or_narrative_is_no_repeat() -> None:
    async def scenario(services: Services) -> None:
        variants: list[dict[str, Any]] = [
            {},
            {"project": "other"},
            {"type": "command"},
            {"title": "b"},
            {"narrative": "c"},
            {"title": "a|b", "narrative": "c"},
            {"title": "a", "narrative": "b|c"},
        ]
        for values in variants:
            assert not (await services.observe.observe(an_observation(**values))).is_repeat
        assert (await services.observe.observe(an_observation(text="another", narrative="c"))).is_repeat

    in_daemon(scenario)


def test_a_repeat_names_what_differs_from_what_is_kept() -> None:
    async def scenario(services: Services) -> None:
        handed_in: dict[str, Any] = {"narrative": "Ran the tests", "text": "3 failed"}
        first = await services.observe.observe(an_observation(**handed_in))
        other = {"text": "all 40 passed", "concepts": ("ci",), "files_read": ("a",), "files_modified": ("b",)}
        again = await services.observe.observe(an_observation(**handed_in | other, session="s-2"))
        assert (again.record_id, again.is_repeat) == (first.record_id, True)
        assert again.differs == ("text", "concepts", "files_read", "files_modified", "session")
        assert not (await services.observe.observe(an_observation(**handed_in))).differs

    in_daemon(scenario)


def test_knowledge_is_a_repeat_only_if_all_of_it_is_the_same() -> None:
    async def scenario(services: Services) -> None:
        plain: dict[str, Any] = {"project": "p", "knowledge_type": KnowledgeType.CONSTRAINT, "title": "t"}
        plain |= {"content": f"{'c' * 4_000} and so on"}
        variants: list[dict[str, Any]] = [
            {},
            {"content": f"{'c' * 4_000} and otherwise"},
            {"severity": "hard"},
            {"reason": "law"},
            {"files": ("a.py",)},
            {"concepts": ("ci",)},
            {"session": "s-1"},
            {"session": "s-2"},
        ]
        for values in variants:
            assert not (await services.observe.add_knowledge(KnowledgeItem(**plain | values))).is_repeat, values
        for values in variants:
            again = await services.observe.add_knowledge(KnowledgeItem(**plain | values))
            assert (again.is_repeat, again.differs) == (True, ()), values

    in_daemon(scenario)


def test_knowledge_is_kept_beside_an_observation_of_the_same_words() -> None:
    async def scenario(services: Services) -> None:
        await services.observe.observe(an_observation(type="decision", title="SQLite", narrative="One file"))
        item = KnowledgeItem(
            project="my-api", knowledge_type=KnowledgeType.DECISION, title="SQLite", content="One file"
        )
        assert not (await services.observe.add_knowledge(item)).is_repeat

    in_daemon(scenario)


def test_a_checkpoint_is_a_repeat_only_in_the_same_session_and_words() -> None:
    async def scenario(services: Services) -> None:
        plain: dict[str, Any] = {"project": "p", "session": "s-1", "task": "Move the parser", "progress": "half"}
        variants: list[dict[str, Any]] = [
            {},
            {"session": "s-2"},
            {"next_steps": "the tests"},
            {"next_steps": "the docs"},
            {"open_questions": ("where to?",)},
            {"relevant_files": ("parser.py",)},
        ]
        for values in variants:
            assert not (await services.observe.add_checkpoint(Checkpoint(**plain | values))).is_repeat, values
        for values in variants:
            assert (await services.observe.add_checkpoint(Checkpoint(**plain | values))).is_repeat, values

    in_daemon(scenario)


def test_repeats_that_come_together_are_kept_once() -> None:
    async def scenario(services: Services) -> None:
        done: list[bool] = []

        async def observe() -> None:
            done.append((await services.observe.observe(an_observation())).is_repeat)

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(observe)
        assert sorted(done) == [False, True, True, True, True]

    in_daemon(scenario)


def test_what_was_forgotten_may_be_observed_again_at_once() -> None:
    async def scenario(services: Services) -> None:
        first = await services.observe.observe(an_observation())
        await services.forget.forget(first.record_id)
        assert not (await services.observe.observe(an_observation())).is_repeat

    in_daemon(scenario)


def test_each_type_of_knowledge_keeps_its_metadata() -> None:
    async def scenario(services: Services) -> None:
        items: dict[KnowledgeType, dict[str, Any]] = {
            KnowledgeType.CONSTRAINT: {"severity": "hard", "reason": "law"},
            KnowledgeType.DECISION: {"alternatives": ("a", "b"), "reason": "speed"},
            KnowledgeType.HEURISTIC: {"context": "tests", "confidence": "low"},
            KnowledgeType.REJECTED: {"reason": "slow", "alternatives": ("c",)},
        }
        for knowledge_type, metadata in items.items():
            item = KnowledgeItem(
                project="my-api",
                knowledge_type=knowledge_type,
                title=f"A {knowledge_type}",
                content="zebra",
                **metadata,
            )
            record = await services.queries.record((await services.observe.add_knowledge(item)).record_id)
            assert (record.knowledge_type, record.capture_type) == (knowledge_type, knowledge_type.value)
            assert {name: getattr(record.details, name) for name in metadata} == metadata
            for value in metadata.values():
                assert any(str(value if isinstance(value, str) else value[0]) in fact for fact in record.facts)

    in_daemon(scenario)


def test_a_constraint_is_soft_unless_it_says_otherwise() -> None:
    async def scenario(services: Services) -> None:
        item = KnowledgeItem(project="p", knowledge_type=KnowledgeType.CONSTRAINT, title="t", content="c")
        record = await services.queries.record((await services.observe.add_knowledge(item)).record_id)
        assert record.details is not None
        assert record.details.severity == "soft"

    in_daemon(scenario)


def test_metadata_of_another_type_is_refused_by_name() -> None:
    async def scenario(services: Services) -> None:
        item = KnowledgeItem(
            project="p", knowledge_type=KnowledgeType.HEURISTIC, title="t", content="c", severity="hard", reason="r"
        )
        problems: Any = ()
        try:
            await services.observe.add_knowledge(item)
        except InvalidRequest as error:
            problems = error.problems
        assert [path for path, _ in problems] == ["$.severity", "$.reason"]

    in_daemon(scenario)


def test_a_checkpoint_is_a_record_too() -> None:
    async def scenario(services: Services) -> None:
        checkpoint = Checkpoint(
            project="p",
            session="s-1",
            task="Move the parser",
            progress="half",
            next_steps="the tests",
            open_questions=("where to?",),
            relevant_files=("parser.py",),
        )
        record = await services.queries.record((await services.observe.add_checkpoint(checkpoint)).record_id)
        assert (record.title, record.summary, record.files_touched) == ("Move the parser", "half", ("parser.py",))
        assert record.facts == ("Next steps: the tests", "Open question: where to?")

    in_daemon(scenario)


def test_without_a_model_the_log_says_so_once_and_not_for_each_observation() -> None:
    async def scenario(services: Services) -> None:
        with structlog.testing.capture_logs() as logs:
            for number in range(5):
                await services.observe.observe(an_observation(title=f"number {number}"))
                await trio.sleep(1)
        assert [each["event"] for each in logs].count("backfill.failed") <= 1

    in_daemon(scenario, config=Config(embedding=EmbeddingConfig(enabled=False)))
