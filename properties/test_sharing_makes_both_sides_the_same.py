"""Whatever people do, and whenever the team is away: in the end each has exactly what the others share."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import attrs
from hypothesis import settings
from hypothesis import strategies as st

from kiro_learn.config import Config, ShareConfig
from kiro_learn.errors import InvalidRequest, StorageUnavailable
from kiro_learn.model.correction import Correction
from kiro_learn.model.record import KnowledgeType, MemoryRecord
from kiro_learn.model.sharing import SHARED_STRATEGY
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import scheduled
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.testing.team import InMemoryTeam

FOLDER = "/home/ada/shop"
CONFIG = Config(share=ShareConfig(projects=f"shop={FOLDER}", every_seconds=5))
ROLES = ("ann", "bob", "cat")

Step = tuple[int, str, int, frozenset[int]]
"""The person who acts, the deed, the memory that it is about, and the people who compare after it."""

DEEDS = ("learn", "forget", "correct", "withhold", "again", "away", "back", "expel", "admit")
PEOPLE = st.integers(0, 2)
STEPS = st.lists(
    st.tuples(PEOPLE, st.sampled_from(DEEDS), st.integers(0, 5), st.frozensets(PEOPLE)), min_size=3, max_size=12
)


@attrs.define(eq=False)
class Person:
    """A person's daemon, and the memories of others that were forgotten there."""

    services: Services
    storage: InMemoryStorage
    forgotten: set[str] = attrs.Factory(set)
    """The titles of others' memories that must not come again."""

    async def records(self) -> list[MemoryRecord]:
        page = await self.storage.list_memory_records(namespace=None, limit=999, offset=0)
        return sorted(page.items, key=lambda record: record.title)

    async def titles(self, *, are_shared: bool) -> list[str]:
        return [each.title for each in await self.records() if (each.strategy == SHARED_STRATEGY) == are_shared]

    async def one(self, number: int) -> MemoryRecord | None:
        records = await self.records()
        return records[number % len(records)] if records else None


class Team:
    """Three people, and the steps that they take."""

    def __init__(self, team: InMemoryTeam, people: Sequence[Person]) -> None:
        self.team = team
        self.people = people
        self.count = 0
        self.withheld: set[str] = set()

    async def take(self, step: Step) -> None:
        who, deed, number, comparing = step
        await self._do(self.people[who], deed, number)
        for each in sorted(comparing):
            await self.compare(self.people[each])

    async def _do(self, person: Person, deed: str, number: int) -> None:
        role = ROLES[self.people.index(person)]
        match deed:
            case "learn":
                await self.learn(person)
            case "away" | "back":
                self.team.is_away = deed == "away"
            case "expel":
                self.team.members["shop"].discard(role)
            case "admit":
                self.team.members["shop"].add(role)
            case _ if (record := await person.one(number)) is not None:
                await self._about(person, deed, record)

    async def compare(self, person: Person) -> None:
        with contextlib.suppress(StorageUnavailable):
            await person.services.sharing.compare()

    async def learn(self, person: Person) -> None:
        self.count += 1
        namespace = (await person.services.project_finder.project_of(FOLDER)).namespace
        await person.services.capture.take(an_event(self.count, namespace=namespace))
        rule = a_record(self.count, f"Rule {self.count:03}", namespace=namespace)
        await person.services.remember.put(attrs.evolve(rule, knowledge_type=KnowledgeType.CONSTRAINT))

    async def _about(self, person: Person, deed: str, record: MemoryRecord) -> None:
        if deed == "forget":
            if record.strategy == SHARED_STRATEGY:
                person.forgotten.add(record.title)
            await person.services.forget.forget(record.record_id)
        elif deed == "correct":
            self.count += 1
            corrected = f"Rule {self.count:03}"
            await person.services.project_records.edit(FOLDER, record.record_id, Correction(title=corrected))
            if record.strategy == SHARED_STRATEGY:
                person.forgotten.add(record.title)
            elif record.title in self.withheld:
                self.withheld.add(corrected)
        else:
            with contextlib.suppress(StorageUnavailable, InvalidRequest):
                await person.services.sharing.withhold(record.record_id, is_withheld=deed == "withhold")
                if deed == "withhold":
                    self.withheld.add(record.title)
                elif record.title in self.withheld:  # a memory that is shared again is another one
                    self.withheld.discard(record.title)
                    for each in self.people:
                        each.forgotten.discard(record.title)


async def live(steps: Sequence[Step]) -> None:
    team = InMemoryTeam(members={"shop": set(ROLES)})
    async with contextlib.AsyncExitStack() as daemons:
        people = []
        for role in ROLES:
            storage = InMemoryStorage()
            daemon = simulated_daemon(storage=storage, team=team.seen_by(role), config=CONFIG)
            people.append(Person(await daemons.enter_async_context(daemon), storage))
        world = Team(team, people)
        for person in people:
            await world.learn(person)
        for person in (*people, *people):
            await world.compare(person)
        for step in steps:
            await world.take(step)
        team.is_away = False
        team.members["shop"].update(ROLES)
        for _ in range(2):
            for person in people:
                await person.services.sharing.compare()
        own = [await person.titles(are_shared=False) for person in people]
        for number, person in enumerate(people):
            others = {title for index, titles in enumerate(own) if index != number for title in titles}
            received = await person.titles(are_shared=True)
            assert received == sorted(others - world.withheld - person.forgotten)
            for record in await person.records():
                teachers = (await person.services.activity.sources(record.record_id)).teachers
                assert ("ada" in teachers) == (record.strategy != SHARED_STRATEGY) or record.strategy == "edited"
        asked = team.asked
        for person in people:
            await person.services.sharing.compare()
        assert team.asked == asked, "what is the same asks for nothing"


@settings(max_examples=max(1, settings().max_examples // 2))
@scheduled(steps=STEPS)
async def test_each_person_ends_with_what_the_others_share(steps: list[Step]) -> None:
    await live(steps)
