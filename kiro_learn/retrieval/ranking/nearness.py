"""How near a record is, from how near its whole and its windows are: the mean of its whole's and of its best window's.

Long records are about more than one thing, and the vector of the whole, which the model makes of the first 256 tokens,
is silent on the rest. The best window alone would let one passing remark outweigh what a record is about.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from kiro_learn.retrieval.ranking.vector_rows import Doubles, Floating, RowNumbers, VectorRows

Owners: TypeAlias = npt.NDArray[np.int64]
"""(windows,) int64, ascending: of each window, the place of its record among the wholes."""

NO_OWNERS: Owners = np.empty(0, np.int64)


def nearness(wholes: npt.NDArray[Floating], windows: npt.NDArray[Floating], owners: Owners) -> npt.NDArray[Floating]:
    """(records,) from what wholes (records,) and windows (windows,) score each; the whole is a window too.

    A record without further windows keeps its whole's score to the last bit.
    """
    if not owners.size:
        return wholes
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    long = owners[starts]
    best = wholes.copy()
    best[long] = np.maximum(wholes[long], np.maximum.reduceat(windows, starts))
    best += wholes
    best /= 2
    return best


@attrs.frozen(eq=False)
class FewRecords:
    """Some records' vectors in double precision: the last bits of single precision depend on where a row lies."""

    wholes: Doubles
    """(records, dimension)."""
    windows: Doubles
    """(windows, dimension)."""
    owners: Owners

    @classmethod
    def read(cls, rows: RowNumbers, owners: Owners, wholes: VectorRows, windows: VectorRows) -> FewRecords:
        """The records at these ``rows`` of ``wholes``; ``owners``: of ``windows``."""
        firsts, counts = windows_of(rows, owners)
        return cls(
            wholes.vectors(rows).astype(np.float64),
            windows.vectors(runs(firsts, counts)).astype(np.float64),
            np.repeat(np.arange(len(rows)), counts),
        )


def windows_of(rows: RowNumbers, owners: Owners) -> tuple[RowNumbers, RowNumbers]:
    """Of each of ``rows``, the row of its first window, and how many windows it has."""
    firsts = np.searchsorted(owners, rows, side="left")
    return firsts, np.searchsorted(owners, rows, side="right") - firsts


def runs(firsts: RowNumbers, counts: RowNumbers) -> RowNumbers:
    """``counts[i]`` numbers from ``firsts[i]`` on, for one i after the other."""
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(counts.sum())
