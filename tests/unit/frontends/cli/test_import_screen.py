"""What an import shows: a line a fact, and every reason why something is left out."""

from __future__ import annotations

from collections import Counter

from kiro_learn.frontends.cli import import_screen
from kiro_learn.services.import_survey import Survey
from tests.unit.frontends.cli.samples import PLAIN

MODEL_FREE = {"strategy": "extractive", "name": "extractive"}


def test_facts_stand_below_each_other_beside_a_long_title() -> None:
    survey = Survey(kept=Counter({"mem0": 2, "Of a title that is long": 3}))
    lines = import_screen.to_do(survey, MODEL_FREE, PLAIN)
    assert lines[1] == "  mem0                     2 memories"
    assert lines[2] == "  Of a title that is long  3 memories"


def test_every_reason_is_named_with_its_number() -> None:
    skipped = {f"lines of kind {number}": number for number in range(1, 10)}
    lines = import_screen.left_out(skipped, PLAIN)
    assert lines == [f"  leaves out    {number} lines of kind {number}" for number in range(9, 0, -1)]
