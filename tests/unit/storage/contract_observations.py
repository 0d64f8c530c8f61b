from __future__ import annotations

from datetime import date

import attrs

from kiro_learn.model.event import EventKind
from kiro_learn.model.ids import RecordId
from kiro_learn.model.record import KnowledgeType, MemoryRecord, RecordDetails, RecordFilter
from kiro_learn.model.statistics import Activity, NamedRecord, Session, TokenEconomics, ToldSession
from kiro_learn.ports.storage.interface import StorageBackend
from kiro_learn.ports.storage.records import RecordQuery, SyntaxSearch
from kiro_learn.retrieval.query.syntax import compile_query
from kiro_learn.testing.storage import put_event, put_record, transact_one
from tests.unit.storage.builders import DAWN, MINE, OTHERS, at, event, event_id, record, record_id
from tests.unit.storage.contract import promise


def ids(records: list[MemoryRecord]) -> list[RecordId]:
    return [each.record_id for each in records]


@promise
async def syntax_search_may_end_with_any_that_match(storage: StorageBackend) -> None:
    for number in range(1, 5):
        await put_record(storage, record(number, "the pool of src/pool.py" if number < 4 else "the pool of pool src"))

    async def count(query: str, limit: int) -> int:
        expression = compile_query(query)
        search = SyntaxSearch(namespace=MINE, expression=expression, limit=limit, is_any_enough=True)
        return len((await storage.search_syntax(search)).hits)

    assert [await count('"src/pool.py"', limit) for limit in (2, 9)] == [2, 3]
    assert await count("zebra", 9) == 0


@promise
async def syntax_search_knows_types_and_times(storage: StorageBackend) -> None:
    await put_record(storage, record(1, "zebra", capture_type="command"))
    await put_record(storage, record(2, "zebra", knowledge_type=KnowledgeType.DECISION))
    await put_record(storage, record(3, "zebra"))
    await put_record(storage, record(4, "zebra", namespace=OTHERS))

    async def found(**values: object) -> set[RecordId]:
        wanted = RecordFilter(**values)  # type: ignore[arg-type]  # by name
        search = SyntaxSearch(namespace=MINE, expression=compile_query("zebra"), limit=9, filter=wanted)
        return {hit.record_id for hit in (await storage.search_syntax(search)).hits}

    assert await found() == {record_id(1), record_id(2), record_id(3)}
    assert await found(types=("command",)) == {record_id(1)}
    assert await found(types=("decision",)) == {record_id(2)}
    assert await found(types=("decision", "command", "none")) == {record_id(1), record_id(2)}
    assert await found(types=("discovery",)) == {record_id(3)}
    assert await found(since=at(2)) == {record_id(2), record_id(3)}
    assert await found(until=at(2)) == {record_id(1)}
    asked = [record_id(number) for number in (1, 3, 8)]
    assert await storage.get_fitting_ids(asked, RecordFilter(types=("command",))) == {record_id(1)}
    assert await storage.get_fitting_ids(asked, RecordFilter(since=at(2))) == {record_id(3)}
    assert await storage.get_fitting_ids(asked, RecordFilter()) == {record_id(1), record_id(3)}


@promise
async def a_filter_knows_session_concept_file_and_staleness(storage: StorageBackend) -> None:
    await put_event(storage, event(1, session_id="s-1"))
    await put_event(storage, event(2, session_id="s-2"))
    await put_event(storage, event(3, session_id="s-1", namespace=OTHERS))
    await put_record(storage, record(1, source_event_ids=(event_id(1),), concepts=("Caching", "auth")))
    await put_record(storage, record(2, source_event_ids=(event_id(2), event_id(1)), files_read=("src/cache.py",)))
    await put_record(storage, record(3, source_event_ids=(event_id(3),), files_touched=("cache.py",), stale_at=DAWN))
    await put_record(storage, record(4, source_event_ids=(event_id(9),), files_modified=("src/mycache.py",)))

    for wanted, expected in (
        (RecordFilter(session="s-1"), {1}),
        (RecordFilter(session="s-2"), {2}),
        (RecordFilter(session="s-3"), set()),
        (RecordFilter(concept="caching"), {1}),
        (RecordFilter(concept="cach"), set()),
        (RecordFilter(file="cache.py"), {2, 3}),
        (RecordFilter(file="src/cache.py"), {2}),
        (RecordFilter(file="%.py"), set()),
        (RecordFilter(is_stale=True), {3}),
        (RecordFilter(is_stale=False), {1, 2, 4}),
        (RecordFilter(file="cache.py", is_stale=False), {2}),
    ):
        found = {record_id(number) for number in expected}
        listed = await storage.list_records(RecordQuery(namespace=MINE, limit=9, filter=wanted))
        assert set(ids(listed)) == found, wanted
        assert await storage.get_fitting_ids([record_id(number) for number in range(1, 6)], wanted) == found, wanted


@promise
async def records_are_listed_before_and_after_a_place(storage: StorageBackend) -> None:
    for number in range(1, 7):
        kind = KnowledgeType.HEURISTIC if number in {2, 5} else None
        await put_record(storage, record(number, knowledge_type=kind))
    await put_record(storage, record(7, namespace=OTHERS))
    place = (at(4), record_id(4))

    assert ids(await storage.list_records(RecordQuery(namespace=MINE, limit=2))) == [record_id(6), record_id(5)]
    before = RecordQuery(namespace=MINE, limit=2, before=place)
    assert ids(await storage.list_records(before)) == [record_id(3), record_id(2)]
    knowledge = RecordQuery(namespace=MINE, limit=9, only_knowledge=True)
    assert ids(await storage.list_records(knowledge)) == [record_id(5), record_id(2)]
    everything = [record_id(number) for number in (9, 7, 5, 4, 2)]
    assert await storage.get_knowledge_ids(everything) == {record_id(5), record_id(2)}
    late = RecordQuery(namespace=MINE, limit=9, filter=RecordFilter(types=("heuristic",), since=at(3)))
    assert ids(await storage.list_records(late)) == [record_id(5)]
    assert ids(await storage.list_records_after(MINE, place, limit=1)) == [record_id(5)]


@promise
async def hard_rules_come_before_other_rules_and_these_before_other_knowledge(storage: StorageBackend) -> None:
    rule, decision = KnowledgeType.CONSTRAINT, KnowledgeType.DECISION
    hard, soft = RecordDetails(severity="hard"), RecordDetails(severity="soft")
    for number, kind, details in (
        (1, rule, hard), (2, rule, soft), (3, rule, None), (4, decision, None), (5, None, None), (6, rule, hard),
        (7, decision, hard),
    ):  # fmt: skip
        await put_record(storage, record(number, knowledge_type=kind, details=details))
    await put_record(storage, record(8, namespace=OTHERS, knowledge_type=rule, details=hard))
    expected = [record_id(number) for number in (6, 1, 3, 2, 7, 4)]
    assert ids(await storage.list_rules_first(MINE, limit=9, offset=0)) == expected
    assert ids(await storage.list_rules_first(MINE, limit=2, offset=1)) == expected[1:3]
    assert ids(await storage.list_rules_first(MINE, limit=9, offset=6)) == []


@promise
async def the_newest_checkpoint_is_that_of_the_session_or_the_project(storage: StorageBackend) -> None:
    for number, session in ((1, "s"), (2, "t"), (3, "t")):
        await put_event(storage, event(number, session_id=session))
        kind = "checkpoint" if number != 3 else "command"
        await put_record(storage, record(number, capture_type=kind))
    assert await storage.get_checkpoint(MINE, None) == record(2, capture_type="checkpoint")
    assert await storage.get_checkpoint(MINE, "s") == record(1, capture_type="checkpoint")
    assert await storage.get_checkpoint(MINE, "u") is None
    assert await storage.get_checkpoint(OTHERS, None) is None


@promise
async def sessions_are_listed_with_their_ends_the_last_first(storage: StorageBackend) -> None:
    for number, session in ((1, "s"), (2, "t"), (3, "s")):
        kind = EventKind.NOTE if number == 1 else EventKind.PROMPT
        await put_event(storage, event(number, session_id=session, kind=kind))
    await put_event(storage, event(4, session_id=event_id(4)))
    await put_event(storage, event(5, session_id="u", namespace=OTHERS))
    first = Session(
        namespace=MINE,
        session_id="s",
        started_at=at(1),
        last_event_at=at(3),
        last_event_id=event_id(3),
        event_count=2,
        prompt_count=1,
    )
    second = attrs.evolve(
        first, session_id="t", started_at=at(2), last_event_at=at(2), last_event_id=event_id(2), event_count=1
    )
    assert await storage.list_sessions(MINE, limit=9) == [first, second]
    assert await storage.list_sessions(MINE, limit=1) == [first]
    assert [each.session_id for each in await storage.list_sessions(None, limit=9)] == ["u", "s", "t"]


@promise
async def a_later_page_of_sessions_has_none_of_an_earlier_one(storage: StorageBackend) -> None:
    """That holds although the sessions' events interleave, and some have the same time."""
    for number in range(1, 25):
        await put_event(storage, event(number, session_id=f"s-{number % 6}", valid_time=at(number // 3)))
    every = await storage.list_sessions(MINE, limit=99)
    paged: list[Session] = []
    while page := await storage.list_sessions(
        MINE, limit=2, before=(paged[-1].last_event_at, paged[-1].last_event_id) if paged else None
    ):
        paged += page
    assert paged == every
    assert sorted(each.session_id for each in paged) == [f"s-{number}" for number in range(6)]


@promise
async def a_session_has_its_events_and_they_have_their_memories(storage: StorageBackend) -> None:
    for number, session in ((1, "s"), (2, "t"), (3, "s"), (4, "s")):
        kind = EventKind.PROMPT if number == 3 else EventKind.NOTE
        await put_event(storage, event(number, session_id=session, kind=kind))
    await put_event(storage, event(5, session_id="s", namespace=OTHERS))
    await put_record(storage, record(1, "both", source_event_ids=(event_id(1), event_id(2))))
    await put_record(storage, record(2, "last", source_event_ids=(event_id(4), event_id(9))))
    await put_record(storage, record(3, "other", namespace=OTHERS, source_event_ids=(event_id(5),)))

    listed = await storage.list_sessions(MINE, limit=9)
    heads = await storage.get_session_heads(listed)
    opening = {each.session.session_id: each.opening and each.opening.event_id for each in heads}
    assert opening == {"s": event_id(3), "t": event_id(2)}
    assert [(each.session.session_id, each.memory_count) for each in heads] == [("s", 2), ("t", 1)]

    page = await storage.list_session_events(MINE, "s", limit=2, after=None)
    assert ([each.event_id for each in page.events], page.is_end) == ([event_id(1), event_id(3)], False)
    rest = await storage.list_session_events(MINE, "s", limit=2, after=(at(3), event_id(3)))
    assert ([each.event_id for each in rest.events], rest.is_end) == ([event_id(4)], True)
    assert page.session == rest.session == listed[0]
    assert (await storage.list_session_events(MINE, "none", limit=2, after=None)).session is None

    asked = [event_id(number) for number in (4, 1, 3)]
    assert await storage.get_memories_of_events(MINE, asked) == {
        event_id(1): [NamedRecord(record_id(1), "both")],
        event_id(4): [NamedRecord(record_id(2), "last")],
    }
    assert [each.event_id for each in await storage.get_events([*asked, event_id(99)])] == sorted(asked)


@promise
async def a_record_knows_the_sessions_that_were_told_it(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await put_event(storage, event(1, session_id="s", kind=EventKind.PROMPT))
    await put_event(storage, event(2, session_id="s", kind=EventKind.PROMPT))
    for session in ("s", "t"):

        def tell(tx: object, session: str = session) -> None:
            tx.put_told(MINE, session, [record_id(1)], prompt_number=1)  # type: ignore[attr-defined]

        await transact_one(storage, tell)
    assert await storage.list_told_sessions(record_id(1)) == [
        ToldSession(namespace=MINE, session_id="t", prompt_number=1, last_prompt_at=None),
        ToldSession(namespace=MINE, session_id="s", prompt_number=1, last_prompt_at=at(2)),
    ]
    assert await storage.list_told_sessions(record_id(2)) == []


@promise
async def activity_counts_the_records_of_a_project(storage: StorageBackend) -> None:
    await put_record(storage, record(1, capture_type="command", stale_at=at(5)))
    await put_record(storage, record(2, knowledge_type=KnowledgeType.DECISION))
    await put_record(storage, record(3, capture_type="command"))
    await put_record(storage, record(4, namespace=OTHERS))
    assert await storage.get_activity(MINE, since=at(2)) == Activity(
        observations=3,
        since=2,
        captured=2,
        knowledge=1,
        stale=1,
        types={"command": 2, "decision": 1},
        days={date(2026, 1, 5): 2},
    )
    nothing = await storage.get_activity(OTHERS, since=DAWN.replace(year=2027))
    assert (nothing.observations, nothing.since, nothing.days) == (1, 0, {})


@promise
async def token_economics_counts_each_telling_and_what_it_stood_for(storage: StorageBackend) -> None:
    await put_event(storage, event(1))
    await put_record(storage, record(1, "tïtle", text="öutput", capture_type="command", facts=("a",)))
    for session in ("s", "t"):

        def tell(tx: object, session: str = session) -> None:
            tx.put_told(MINE, session, [record_id(1)], prompt_number=1)  # type: ignore[attr-defined]

        await transact_one(storage, tell)
    told = len("tïtle".encode()) + len("a summary") + len('["a"]')
    replaced = len("öutput".encode()) + len('{"type":"text","content":"prompt 1"}')
    expected = TokenEconomics(tellings=2, told_bytes=2 * told, replaced_bytes=2 * replaced)
    assert await storage.get_token_economics(MINE) == expected
    assert await storage.get_token_economics(OTHERS) == TokenEconomics(tellings=0, told_bytes=0, replaced_bytes=0)


@promise
async def what_is_stale_is_set_and_cleared(storage: StorageBackend) -> None:
    for number in (1, 2):
        await put_record(storage, record(number))
    await transact_one(storage, lambda tx: tx.set_stale([record_id(1), record_id(9)], at(7)))
    assert [each.stale_at for each in await storage.get_memory_records([record_id(1), record_id(2)])] == [at(7), None]
    await transact_one(storage, lambda tx: tx.set_stale([record_id(1)], None))
    assert (await storage.get_memory_records([record_id(1)]))[0].stale_at is None


@promise
async def digests_of_files_stay_with_their_record(storage: StorageBackend) -> None:
    await put_record(storage, record(1))
    await put_record(storage, record(2))
    noted = {record_id(1): {"src/pööl.py": "a" * 64, "b.py": "b" * 64}, record_id(9): {"c.py": "c" * 64}}
    await transact_one(storage, lambda tx: tx.put_file_digests(noted))
    asked = [record_id(number) for number in (1, 2, 9)]
    assert await storage.get_file_digests(asked) == {record_id(1): noted[record_id(1)]}
    await transact_one(storage, lambda tx: tx.put_file_digests({record_id(1): {"b.py": "d" * 64}}))
    assert await storage.get_file_digests(asked) == {record_id(1): {"b.py": "d" * 64}}
    await transact_one(storage, lambda tx: tx.delete_memory_record([record_id(1)]))
    assert await storage.get_file_digests(asked) == {}


@promise
async def what_was_learned_on_a_branch_names_it_until_it_is_merged(storage: StorageBackend) -> None:
    await put_record(storage, record(1, branch="feature", created_at=at(5)))
    await put_record(storage, record(2, branch="feature", created_at=at(3)))
    await put_record(storage, record(3, branch="other", created_at=at(4)))
    await put_record(storage, record(4))
    await put_record(storage, record(5, branch="feature", namespace=OTHERS))
    asked = [record_id(number) for number in (1, 2, 3, 4)]

    assert await storage.list_open_branches(MINE) == {"feature": at(3), "other": at(4)}
    assert await storage.get_fitting_ids(asked, RecordFilter(branch="feature")) == {record_id(1), record_id(2)}
    await transact_one(storage, lambda transaction: transaction.note_merged(MINE, "feature"))
    assert await storage.list_open_branches(MINE) == {"other": at(4)}
    assert await storage.list_open_branches(OTHERS) == {"feature": at(5)}
