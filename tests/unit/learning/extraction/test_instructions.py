"""What models are told is what is read, and the learner that needs no telling is not misled by it."""

from __future__ import annotations

import re

from kiro_learn.learning.extraction.parsing import parse
from kiro_learn.learning.extraction.splitting import AFTER, BEFORE, prompt_for
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin
from kiro_learn.testing.models import a_record_per_event
from tests.unit.learning.histories import answer, framed, prompt

BATCH = framed(
    [
        prompt(1, "Which package manager do we use? Always use pnpm here, never npm."),
        answer(2, "We use pnpm, because its lock file is what the deployment of the shop reads and checks."),
    ]
)


def test_every_type_that_is_read_is_explained() -> None:
    for kind in ObservationType:
        assert f"\n- {kind}: " in BEFORE


def test_every_other_choice_that_is_read_is_named() -> None:
    knowledge = BEFORE.partition("KNOWLEDGE, only")[2].partition("\nORIGIN")[0]
    assert all(re.search(rf"\b{kind}\b", knowledge) for kind in KnowledgeType)
    origin = BEFORE.partition("ORIGIN is")[2].partition("\n")[0]
    learned = {Origin.USER, Origin.ASSISTANT, Origin.TOOL}
    assert {kind for kind in Origin if re.search(rf"\b{kind}\b", origin)} == learned


def test_the_shape_that_is_shown_is_one_that_is_read() -> None:
    shown = "<memory_record" + BEFORE.partition("<memory_record")[2].partition("</memory_record>")[0]
    filled = (
        shown.replace("TYPE", "error")
        .replace("NUMBERS", "1")
        .replace("KNOWLEDGE", "heuristic")
        .replace("ORIGIN", "tool")
    ).replace("IMPORTANCE", "9")
    (draft,) = parse(filled, BATCH)
    assert (draft.observation_type, draft.knowledge_type, draft.origin, draft.importance) == (
        "error",
        "heuristic",
        "tool",
        9,
    )
    assert (draft.cites, draft.files_modified, len(draft.facts), len(draft.concepts)) == (
        True,
        ("path/of/a/file.py",),
        1,
        1,
    )


def test_a_model_that_repeats_the_rule_about_skipping_skips() -> None:
    assert "<skip/>" in BEFORE
    assert parse("<skip/>", BATCH) == []


def test_the_scripted_learner_counts_only_the_events() -> None:
    assert a_record_per_event(prompt_for(BATCH)) == a_record_per_event(BATCH.text)


def test_the_batch_stands_between_what_is_said_before_and_after_it() -> None:
    assert prompt_for(BATCH) == f"{BEFORE}\n{BATCH.text}\n\n{AFTER.format(more='')}"
    assert "data that was recorded" in BEFORE
