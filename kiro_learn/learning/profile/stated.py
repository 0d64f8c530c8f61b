"""What people stated of a project, in the slots of its profile: what holds, and what held before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kiro_learn.learning.profile.dependencies import IMAGES
from kiro_learn.learning.profile.texts import is_plain
from kiro_learn.model.graph import Fact, SourceType
from kiro_learn.model.profile import ProfileFact, ProjectProfile, Slot

_SLOTS = {
    "written_in": Slot.LANGUAGE,
    "built_with": Slot.FRAMEWORK,
    "stored_in": Slot.SERVICE,
    "deployed_on": Slot.PLATFORM,
    "runs_on": Slot.PLATFORM,
    "listens_on_port": Slot.PORT,
    "default_branch": Slot.BRANCH,
}
_MANAGERS = frozenset(
    {
        *("npm", "pnpm", "yarn", "bun", "pip", "uv", "poetry", "conda", "pipenv"),
        *("cargo", "gradle", "maven", "bundler", "composer"),
    }
)
_SERVICES = frozenset(name.casefold() for name in IMAGES.values())
_VERSION = re.compile(r" v?\d.*")


def with_stated(profile: ProjectProfile, facts: Iterable[Fact]) -> ProjectProfile:
    """``profile`` with what ``facts`` of the project say.

    What was put by hand stands before what the files say, what was only stated behind it; of what is in the profile
    anyway, by its name, the files' word stays. What an agent did or guessed is no statement.
    """
    known = {(fact.slot, _name(fact)) for fact in profile.facts}
    told = [
        (fact.source_type is SourceType.CORRECTED, each)
        for fact in facts
        for each in _of(fact)
        if (each.slot, _name(each)) not in known
    ]
    if not told:
        return profile
    by_hand = [each for is_by_hand, each in told if is_by_hand]
    stated = [each for is_by_hand, each in told if not is_by_hand]
    return ProjectProfile.ordered([*by_hand, *profile.facts, *stated])


def past_of(facts: Iterable[Fact]) -> list[ProfileFact]:
    """What ``facts`` of the project say that held once, what ended last first."""
    found = [each for fact in facts if fact.validity.retired_at is None for each in _of(fact) if each.until is not None]
    return sorted(found, key=lambda each: (each.until, each.value), reverse=True)


def _of(fact: Fact) -> Iterator[ProfileFact]:
    """None for one that is no statement, has no slot, or is no plain value."""
    slot = _SLOTS.get(fact.predicate)
    if fact.predicate == "uses":
        name = fact.object.casefold()
        slot = Slot.MANAGER if name in _MANAGERS else Slot.SERVICE if name in _SERVICES else Slot.FRAMEWORK
    if slot is not None and fact.source_type.rank >= SourceType.STATED.rank and is_plain(fact.object):
        until = fact.validity.valid_until
        yield ProfileFact(slot=slot, value=fact.object, said_at=fact.last_confirmed_at, until=until)


def _name(fact: ProfileFact) -> str:
    return _VERSION.sub("", fact.value).casefold()
