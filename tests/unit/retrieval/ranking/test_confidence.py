from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import attrs
import pytest

from kiro_learn.model.ids import RecordId
from kiro_learn.model.retrieval import Hit
from kiro_learn.retrieval.ranking.confidence import (
    CERTAIN,
    FLOOR,
    LEAST_BYTES,
    bytes_worth,
    confidence,
    word_share,
)


@attrs.frozen
class Words:
    """A ranking by words."""

    hits: tuple[Hit, ...] = ()
    ideal_score: float = 0.0
    terms: tuple[str, ...] = ()
    neighbors: tuple[Hit, ...] = ()


def words(best: float, ideal: float) -> Words:
    return Words((Hit(RecordId("mr_1"), datetime(2026, 1, 1, tzinfo=UTC), best),), ideal)


def test_it_is_the_mean_of_the_ten_nearest_passages_in_whatever_order() -> None:
    assert confidence([0.1, 0.6, *[0.0] * 200, *[0.2] * 5, 0.4, 0.5, 0.7, 0.8]) == pytest.approx(0.4)


def test_a_single_memory_stands_for_itself() -> None:
    assert confidence([0.6]) == pytest.approx(0.6)


def test_one_more_passage_never_moves_it_by_much() -> None:
    """Where a 20th memory changed the rule, it silenced what 19 had answered."""
    known = [0.5, 0.3, 0.2]
    grown = [confidence([*known, *[0.1] * count]) for count in range(80)]
    assert max(abs(one - next_one) for one, next_one in pairwise(grown)) < 0.01


def test_a_share_of_words_is_between_nothing_and_all() -> None:
    assert word_share(words(9.0, 4.0)) == 1.0
    assert word_share(words(2.0, 0.0)) == 0.0
    assert word_share(Words()) == 0.0


def test_below_the_floor_nothing_is_worth_telling() -> None:
    assert bytes_worth(FLOOR - 1e-9, 8_000) == 0
    assert bytes_worth(-1.0, 8_000) == 0


def test_from_the_floor_on_the_bytes_grow_with_the_confidence() -> None:
    middle = (FLOOR + CERTAIN) / 2
    assert bytes_worth(FLOOR, 8_000) == LEAST_BYTES
    assert LEAST_BYTES < bytes_worth(middle, 8_000) < 8_000
    assert bytes_worth(CERTAIN, 8_000) == bytes_worth(1.0, 8_000) == 8_000


def test_a_small_block_is_never_made_larger() -> None:
    assert bytes_worth(FLOOR, 500) == bytes_worth(1.0, 500) == 500
