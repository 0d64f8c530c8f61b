"""Which records only a faithful one may replace, and what faithful means."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from kiro_learn.learning.relearning import Supersession, holds, is_far_less, without_losses, word_counts
from kiro_learn.model.record import KnowledgeType, MemoryRecord, ObservationType, Origin
from kiro_learn.testing.daemon import a_record
from kiro_learn.testing.simulation import EPOCH


def rule(title: str, *, summary: str = "", files: tuple[str, ...] = ()) -> MemoryRecord:
    record = a_record(1, title, summary or title)
    return attrs.evolve(
        record, origin=Origin.USER, knowledge_type=KnowledgeType.CONSTRAINT, files_touched=files, facts=()
    )


def told(title: str, summary: str = "") -> MemoryRecord:
    return a_record(2, title, summary or title)


@pytest.mark.parametrize(
    "change",
    [
        {"origin": Origin.USER},
        {"knowledge_type": KnowledgeType.CONSTRAINT},
        {"knowledge_type": KnowledgeType.DECISION},
        {"knowledge_type": KnowledgeType.REJECTED},
        {"observation_type": ObservationType.DECISION},
        {"pinned_at": EPOCH},
    ],
)
def test_a_persons_words_constraints_decisions_and_pins_are_protected(change: dict[str, Any]) -> None:
    assert attrs.evolve(a_record(1), **change).is_protected
    assert not a_record(1).is_protected


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("Always use pnpm here, never npm.", told("Use pnpm", "This project uses pnpm, never npm.")),
        (
            "Never commit to main directly, always open a pull request.",
            told("Commits reach main by pull requests only; no direct ones, open a request"),
        ),
        ("Pin Python to 3.11 in CI", told("CI runs Python 3.11", "The version is pinned.")),
        ("We decided on zstandard", told("Zstandard was decided on for snapshots")),
    ],
)
def test_a_record_that_says_it_in_other_words_holds_it(words: str, new: MemoryRecord) -> None:
    assert holds(new, rule(words), word_counts([rule(words)]))


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("Never commit to main directly, always open a pull request.", told("Use pnpm", "Never npm.")),
        ("Always use pnpm here, never npm.", told("Work was done on the project")),
        ("Always use pnpm here, never npm.", told("Use pnpm or npm here")),
        ("Pin Python to 3.11 in CI", told("CI pins Python")),
        ("Keep Zanzibar as the region", told("Keep a region")),
        ("NEVER edit the lock file", told("Edit the lock file")),
    ],
)
def test_a_record_without_its_rare_words_numbers_or_negation_does_not(words: str, new: MemoryRecord) -> None:
    assert not holds(new, rule(words), word_counts([rule(words)]))


def test_its_files_are_named_or_listed() -> None:
    record = rule("Never edit the lock file", files=("web/pnpm-lock.yaml",))
    counts = word_counts([record])
    assert not holds(told("Never edit the lock file"), record, counts)
    assert holds(told("Never edit the lock file", "It is web/pnpm-lock.yaml."), record, counts)
    assert holds(attrs.evolve(told("Never edit the lock file"), files_read=("web/pnpm-lock.yaml",)), record, counts)


def test_words_that_many_records_have_say_less_than_those_that_few_have() -> None:
    record = rule("alpha beta gamma delta epsilon zeta eta theta iota")
    common = [told("alpha beta gamma delta epsilon zeta eta theta")] * 20
    assert holds(told("beta gamma delta epsilon zeta eta theta iota"), record, word_counts([record, *common]))
    assert not holds(told("alpha beta gamma delta epsilon zeta eta theta"), record, word_counts([record, *common]))


def test_what_no_new_record_holds_stays_and_the_rest_goes() -> None:
    kept, going = rule("Never commit to main directly"), told("something about main")
    lazy = told("Work was done")
    done, stays = without_losses([Supersession((lazy,), (kept, going))], word_counts([kept, going]), {})
    assert ([each.weak for each in done], stays) == ([(going,)], (kept,))
    done, stays = without_losses([Supersession((lazy,), (kept,))], word_counts([kept]), {})
    assert (done, stays) == ([], (kept,))


def test_what_a_new_record_becomes_in_a_merge_must_hold_it_too() -> None:
    kept = rule("Never commit to main directly")
    new = told("Never commit to main directly")
    merged = {new.record_id: told("Work was done")}
    done, stays = without_losses([Supersession((new,), (kept,))], word_counts([kept]), merged)
    assert (done, stays) == ([], (kept,))


@pytest.mark.parametrize(
    ("going", "coming", "is_less"), [(4, 1, False), (5, 1, True), (6, 1, True), (8, 2, False), (9, 2, True)]
)
def test_more_than_four_for_one_is_far_less(going: int, coming: int, is_less: bool) -> None:
    assert is_far_less([told("some title")] * going, [told("some title")] * coming) == is_less


def test_much_text_for_little_is_far_less() -> None:
    long, short = told("t", "word " * 600), told("t", "word " * 20)
    assert is_far_less([long], [short])
    assert not is_far_less([long], [told("t", "word " * 60)])
    assert not is_far_less([told("t", "word " * 100)], [told("t")])
