"""False statements of a model about a prompt are not learned, and nearly all true ones are.

``proposals.txt`` holds both; each goes through a learning run with a model that proposes it. The checks were made with
all of them in view. docs/graph.md says how many other false statements they let pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import attrs
import pytest

from kiro_learn.config import Config, GraphConfig
from kiro_learn.model.graph import Fact, Preference
from kiro_learn.model.namespace import Namespace, namespace_of
from kiro_learn.testing.models import ScriptedLlm
from kiro_learn.testing.simulation import simulate
from tests.unit.pipelines.learn.learning_rig import Rig, a_rig

FILE = Path(__file__).with_name("proposals.txt")
CONFIG = Config(graph=GraphConfig(learn=True))
MOST_LIES = 2
LEAST_TRUTHS = 0.9


@attrs.frozen
class Proposal:
    """One item of a model's answer about a prompt."""

    prompt: str
    what: str
    """The predicate of a fact, or ``wish``."""
    words: str
    marks: tuple[str, ...]
    """Any of ``denied``, ``corrected``, and ``replaces`` with the old object."""

    @property
    def element(self) -> str:
        """The element that a model would write."""
        named = [each.partition(" ")[::2] for each in self.marks]
        attributes = "".join(f' {name}="{value or "yes"}"' for name, value in named)
        if self.what == "wish":
            return f'<preference category="workflow" key="the way" events="1"{attributes}>{self.words}</preference>'
        said = f'predicate="{self.what}" object="{self.words}" events="1"{attributes}'
        return f'<fact subject="the project" subject_type="project" {said}/>'

    @property
    def ended(self) -> str | None:
        """The object or the wish that no longer holds by this proposal."""
        old = next((each.removeprefix("replaces ") for each in self.marks if each.startswith("replaces ")), None)
        return self.words if "denied" in self.marks else old


@attrs.frozen
class Case:
    """A line of the file: earlier proposals, then the proposal that is tested."""

    line: str
    steps: tuple[Proposal, ...]

    def is_done(self, held: set[tuple[str, str]]) -> bool:
        """Whether the last proposal was accepted: the item it ends no longer holds, and the item it states holds."""
        last = self.steps[-1]
        is_ended = last.ended is None or (last.what, last.ended) not in held
        return is_ended and ("denied" in last.marks or (last.what, last.words) in held)

    @property
    def before(self) -> set[tuple[str, str]]:
        """The items that hold before the last proposal."""
        return {(each.what, each.words) for each in self.steps[:-1]}


def cases() -> dict[str, list[Case]]:
    """The cases by heading."""
    found: dict[str, list[Case]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            of_heading = found.setdefault(line.strip("[]"), [])
        elif "=>" in line and not line.startswith("#"):
            steps = [part.split(" => ") for part in line.split("| ") if part.strip()]
            of_heading.append(Case(line, tuple(_proposal(prompt.strip(), said.strip()) for prompt, said in steps)))
    return found


def _proposal(prompt: str, said: str) -> Proposal:
    first, *marks = said.split(" - ")
    what, _, words = first.partition(" ")
    return Proposal(prompt, what, words, tuple(marks))


@attrs.frozen
class Outcome:
    """The items that held before and after the last step of a case."""

    before: set[tuple[str, str]]
    after: set[tuple[str, str]]


@cache
def outcomes(heading: str) -> Mapping[str, Outcome]:
    """The outcomes of a heading's cases, by their lines."""
    found: dict[str, Outcome] = {}

    async def run() -> None:
        llm = ScriptedLlm(lambda _: "<skip/>")
        async with a_rig(llm, config=CONFIG) as rig:
            for number, case in enumerate(cases()[heading]):
                namespace = namespace_of("ann", f"{number:064}")
                held = [set[tuple[str, str]]()]
                for step in case.steps:
                    llm.script = partial(_answer, step.element)
                    await rig.learn(step.prompt, namespace=namespace)
                    held.append(set(_held(rig, namespace)))
                found[case.line] = Outcome(*held[-2:])

    simulate(run)
    return found


def _answer(element: str, _prompt: str) -> str:
    return f"<skip/><graph>{element}</graph>"


def _held(rig: Rig, namespace: Namespace) -> Iterator[tuple[str, str]]:
    for item in rig.storage.graph_items(namespace):
        if isinstance(item, Fact) and item.is_current:
            yield item.predicate, item.object
        elif isinstance(item, Preference) and item.validity.is_current:
            yield "wish", item.value


def test_there_are_enough_of_both() -> None:
    assert {heading: len(of) >= 46 for heading, of in cases().items()} == {"lies": True, "truths": True}


@pytest.mark.parametrize("heading", ["lies", "truths"])
def test_what_may_end_holds_before(heading: str) -> None:
    lost = [case.line for case in cases()[heading] if not case.before <= outcomes(heading)[case.line].before]
    assert lost == []


def test_few_lies_pass() -> None:
    """A lie that ends a person's statement counts as passed, even if its replacement is refused."""
    told = outcomes("lies")
    passed = [case.line for case in cases()["lies"] if _passes(case, told[case.line])]
    assert len(passed) <= MOST_LIES, passed


def _passes(lie: Case, told: Outcome) -> bool:
    return lie.is_done(told.after) or bool(told.before - told.after)


def test_nearly_all_truths_pass() -> None:
    told = outcomes("truths")
    refused = [case.line for case in cases()["truths"] if not case.is_done(told[case.line].after)]
    assert len(refused) <= (1 - LEAST_TRUTHS) * len(told), refused
