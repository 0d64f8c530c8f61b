"""Multiplying coded vectors, as an adapter does it faster than NumPy."""

from __future__ import annotations

from typing import Protocol

from kiro_learn.retrieval.ranking.vector_codes import CodeProduct


class CodeMultiplier(CodeProduct, Protocol):
    """``CodeProduct`` as a port: the wiring is given an adapter of it."""
