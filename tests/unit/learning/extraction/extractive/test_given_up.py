"""An attempt that was given up is remembered with the reason, as something not to try again."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.learner import drafts_of
from kiro_learn.model.record import KnowledgeType, Origin
from tests.unit.learning.histories import answer, learned, prompt, snapshot, tool

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


@pytest.mark.parametrize(
    "said",
    [
        "I tried pytest-xdist but the postgres fixtures block each other, so no xdist",
        "I tried dask for this, but it was slower than pandas, 11 minutes, so we don't need to try it again",
        "hmm and I did also try spark for this join but the cluster needs 6 minutes to start, so no",
        "tried esbuild, it drops the decorators of the worker, let's not use it",
        "We benchmarked simd-json and it is only 4 % quicker, not worth it",
        "I tried turbopack once. It breaks the svg imports of the shop, so never again.",
        "we gave bazel a try last year, nobody could read the build files, so we stick with make",
    ],
)
def test_what_the_person_tried_and_turned_down_is_kept_with_why(said: str) -> None:
    (draft,) = learned(prompt(1, said), answer(2, "Good to know."))
    assert draft.summary.rstrip(".").casefold() in said.casefold()
    assert (draft.knowledge_type, draft.origin) == (KnowledgeType.REJECTED, Origin.USER)


def test_what_is_asked_beside_it_is_answered_in_a_memory_of_its_own() -> None:
    asked = "I tried esbuild but it drops the decorators, so no. Why is the bundle 4 MB?"
    told = (
        "The bundle is 4 MB because moment brings all of its locales, 2.8 MB. I excluded them in `webpack.config.js`."
    )
    found, left = learned(prompt(1, asked), answer(2, told))
    assert (found.knowledge_type, left.knowledge_type) == (None, KnowledgeType.REJECTED)
    assert "moment" in found.title
    assert "decorators" in left.title


@pytest.mark.parametrize(
    "said",
    [
        "I tried restarting the server but the port is taken, so no idea",
        "I tried the new build on my phone and the chart is fine, so no need to test it again",
        "we tried to log in with the old key but it fails, don't use it until Monday",
        "I tried the migration but it hangs at the index, no luck",
        "I tried your fix, it breaks the import. don't use a global there",
        "we tried sea-orm, too slow to compile. sqlx it is",
    ],
)
def test_an_attempt_that_failed_or_went_well_is_not_turned_down(said: str) -> None:
    kept = learned(prompt(1, said), answer(2, "Understood."))
    assert KnowledgeType.REJECTED not in [draft.knowledge_type for draft in kept]
