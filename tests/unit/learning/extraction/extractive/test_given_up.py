"""An attempt that was given up is remembered with the reason, as something not to try again."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.learner import drafts_of
from kiro_learn.model.record import KnowledgeType
from tests.unit.learning.histories import answer, prompt, snapshot, tool

TRY = "Try memory-mapping the files with memmap2, it should be faster."
SLOWER = "mmap is slower here: 163 ms against 118 ms, because most files are under 16 KB and page faults dominate."


def drafts(tried: str, outcome: str, reaction: str) -> list[tuple[KnowledgeType | None, str]]:
    events = (
        prompt(1, tried),
        tool(2, "Bash", {"command": "cargo bench"}, {"stdout": "done"}),
        answer(3, outcome),
        prompt(4, reaction),
        answer(5, "Done."),
    )
    return [(draft.knowledge_type, draft.summary) for draft in drafts_of(snapshot(events))]


@pytest.mark.parametrize(
    "reaction",
    [
        "ok then revert it, not worth it. we stay with buffered reads",
        "then drop it",
        "undo that please, let's stick with read()",
        "forget it",
        "schade, lohnt nicht",
    ],
)
def test_what_was_tried_and_left_is_kept_with_why(reaction: str) -> None:
    rejected = [summary for kind, summary in drafts(TRY, SLOWER, reaction) if kind is KnowledgeType.REJECTED]
    assert len(rejected) == 1
    assert "163 ms against 118 ms" in rejected[0]


def test_to_try_something_is_no_choice() -> None:
    kept = drafts(TRY, SLOWER, "ok then revert it, not worth it")
    assert not [summary for kind, summary in kept if kind is KnowledgeType.DECISION]


@pytest.mark.parametrize(
    ("tried", "outcome", "reaction"),
    [
        (TRY, SLOWER, "still failing, revert that and fix the test first"),
        (TRY, SLOWER, "ok great, commit it"),
        (TRY, "mmap is in and reads are 30 % faster now, since nothing is copied.", "ok revert it, I want to see both"),
        (
            "fix the type error",
            "tsc does not write files, so I build crypto first.",
            "ok lets go back to the pr branch",
        ),
    ],
)
def test_what_is_mended_or_kept_is_not_given_up(tried: str, outcome: str, reaction: str) -> None:
    assert KnowledgeType.REJECTED not in [kind for kind, _ in drafts(tried, outcome, reaction)]


def test_what_is_kept_instead_is_a_choice_of_its_own() -> None:
    worse = "rspack builds in 41 s instead of 48 s, but the bundle grows by 90 kB and offline mode has no counterpart."
    left, kept = drafts_of(
        snapshot(
            [
                prompt(1, "Try rspack for the build, it should be faster."),
                answer(2, worse),
                prompt(3, "Revert it. We stay with vite, the offline mode is more important."),
                answer(4, "Reverted."),
            ]
        )
    )
    assert (left.knowledge_type, kept.knowledge_type) == (KnowledgeType.REJECTED, KnowledgeType.DECISION)
    assert kept.title.startswith("We stay with vite, the offline mode is more important")
