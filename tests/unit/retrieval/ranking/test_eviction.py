from __future__ import annotations

import pytest

from kiro_learn.retrieval.ranking.signals import eviction_count


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([40, 30, 30], 0, id="all fit"),
        pytest.param([40, 30, 40], 1, id="the one used longest ago goes"),
        pytest.param([10, 40, 40, 40], 2, id="as many as it takes"),
        pytest.param([500], 0, id="the only one stays, whatever its size"),
        pytest.param([500, 1], 0, id="a large one is not let go of for a small one"),
        pytest.param([1, 500], 0, id="nor a small one for a large one"),
        pytest.param([500, 50, 50], 0, id="beside it there is room for as much as without it"),
        pytest.param([500, 50, 40, 30], 2, id="used longest ago, it goes too"),
        pytest.param([50, 40, 500, 30], 1, id="used of late, it does not"),
        pytest.param([51, 51], 1, id="of two large ones the one used last stays"),
        pytest.param([10, 60, 10, 70], 2, id="with all that was used before it"),
    ],
)
def test_who_makes_room(sizes: list[int], expected: int) -> None:
    assert eviction_count(sizes, most_bytes=100) == expected
