from __future__ import annotations

import numpy as np
import pytest

from kiro_learn.model.vectors import DIMENSION
from kiro_learn.retrieval.ranking import vector_rows
from kiro_learn.retrieval.ranking.vector_rows import (
    FEWEST_BLOCK_ROWS,
    PIECE_BASE,
    PIECE_LIMIT,
    ZERO,
    CodedRows,
    Codes,
    Direction,
    Integers,
    Pieces,
    VectorRows,
    multiply_codes,
    unit_rows,
)

DICE = np.random.default_rng(7)
EVEN = np.full(DIMENSION, DIMENSION**-0.5)
ONE_HOT = np.eye(1, DIMENSION)[0]
ONE_AND_DUST = np.where(ONE_HOT > 0, 1, 1e-4)
UNITS = unit_rows(
    np.vstack(
        [EVEN, -EVEN, ONE_HOT, -ONE_HOT, ONE_AND_DUST, np.zeros(DIMENSION), DICE.standard_normal((250, DIMENSION))]
    ).astype(np.float32)
)


def whole_number_product(codes: Codes, pieces: Pieces) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return (codes.astype(np.int64) - ZERO) @ pieces.astype(np.int64)


@pytest.mark.parametrize("code", [0, 1, ZERO, 255])
@pytest.mark.parametrize("piece", [-PIECE_LIMIT, 0, PIECE_LIMIT])
def test_products_are_exact_where_every_summand_is_extreme(code: int, piece: int) -> None:
    codes = np.full((300, DIMENSION), code, np.uint8)
    codes[7, ::2] = 255 - code
    pieces = np.full((DIMENSION, 4), piece, np.int8)
    pieces[::3, 1] = -piece
    found = multiply_codes(codes, pieces)
    assert found.dtype == np.int32
    assert (found == whole_number_product(codes, pieces)).all()


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("length", [1, 0.001])
def test_the_pieces_of_a_direction_are_small_and_say_what_they_leave(number: int, length: float) -> None:
    """Vector 5 is zero, as the mean of a namespace may be."""
    vector = UNITS[number] * np.float32(length)
    direction = Direction.of(vector)
    assert np.abs(direction.pieces.astype(int)).max() <= PIECE_LIMIT
    told = direction.step * (direction.pieces.astype(float) @ [PIECE_BASE, 1])
    assert np.linalg.norm(vector - told) == pytest.approx(direction.doubt, abs=1e-12)
    assert direction.doubt <= 0.0012 * length


def test_a_residual_is_no_less_than_what_the_codes_leave_and_hardly_more() -> None:
    rows = CodedRows.of(UNITS)
    left = rows.vectors() - rows.scales.astype(float)[:, np.newaxis] * (rows.codes.astype(float) - ZERO)
    lengths = np.linalg.norm(left, axis=1)
    assert (rows.residuals >= lengths).all()
    assert (rows.residuals <= lengths * 1.001 + 3e-6).all()
    assert (rows.scales[5], rows.residuals[5]) == (0, 0)


def test_what_is_kept_is_near_and_of_unit_length() -> None:
    rows = CodedRows.of(UNITS)
    kept = rows.vectors()
    largest = np.abs(UNITS).max(axis=1, keepdims=True)
    assert (np.abs(kept - UNITS) <= largest / 30_000).all()
    assert np.linalg.norm(kept[np.arange(len(kept)) != 5], axis=1) == pytest.approx(1, abs=3e-7)
    assert (kept[5] == 0).all()
    assert (CodedRows.of(UNITS[7:8]).vectors() == kept[7]).all()


@pytest.mark.parametrize("number", range(8))
def test_no_product_is_further_off_than_its_margin(number: int) -> None:
    mean = UNITS.mean(axis=0, dtype=np.float64)
    rows = VectorRows()
    rows.extend(CodedRows.of(UNITS))
    found = rows.multiply(len(UNITS), Direction.of(UNITS[number]), Direction.of(mean), multiply_codes)
    exact = (CodedRows.of(UNITS).vectors().astype(float) * UNITS[number]).sum(axis=1)
    assert (found.least <= exact).all()
    assert (exact <= found.most).all()
    assert found.margins.max() < 0.06
    assert found.heights == pytest.approx(UNITS @ mean, abs=5e-3)


def test_codes_are_the_same_however_the_rows_came() -> None:
    count = FEWEST_BLOCK_ROWS + 3
    units = UNITS[np.arange(count) % len(UNITS)]
    at_once, piecemeal = VectorRows(), VectorRows()
    at_once.extend(CodedRows.of(units))
    for start in range(0, count, 1_000):
        piecemeal.extend(CodedRows.of(units[start : start + 1_000]))
    query, mean = Direction.of(UNITS[6]), Direction.of(UNITS[7])
    first, second = (rows.multiply(count, query, mean, multiply_codes) for rows in (at_once, piecemeal))
    for of_first, of_second in ((first.products, second.products), (first.margins, second.margins)):
        assert of_first.tolist() == of_second.tolist()
    assert first.products[-1] == first.products[(count - 1) % len(UNITS)]
    assert rows_of(at_once, 5, query) == first.products[:5].tolist()


def test_rows_that_are_expected_are_few_blocks_and_each_row_is_found_in_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vector_rows, "MOST_BLOCK_ROWS", 2 * FEWEST_BLOCK_ROWS)
    expected, count = 3 * FEWEST_BLOCK_ROWS + 1_000, 5 * FEWEST_BLOCK_ROWS
    kept = CodedRows.of(UNITS)
    rows = VectorRows()
    rows.expect(expected)
    for start in range(0, count, 1_000):
        rows.extend(kept.part(np.arange(start, min(start + 1_000, count)) % len(UNITS)))
    multiplied: list[int] = []

    def product(codes: Codes, pieces: Pieces) -> Integers:
        multiplied.append(len(codes))
        return multiply_codes(codes, pieces)

    query = Direction.of(UNITS[0])
    rows.multiply(count - 7, query, query, product)
    largest = 2 * FEWEST_BLOCK_ROWS
    assert multiplied == [largest, FEWEST_BLOCK_ROWS + 1_000, FEWEST_BLOCK_ROWS, FEWEST_BLOCK_ROWS - 1_007]
    wanted = np.arange(count - 1, 0, -997)
    assert rows.take(wanted).codes.tolist() == kept.codes[wanted % len(UNITS)].tolist()


def rows_of(rows: VectorRows, count: int, query: Direction) -> list[float]:
    found: list[float] = rows.multiply(count, query, query, multiply_codes).products.tolist()
    return found
