"""The rerank model's contract, and what is seen of the actor that owns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class RerankModel(Protocol):
    """Reads a query and a text together and says how well they fit, deterministically, and off the event loop."""

    @property
    def name(self) -> str:
        """What to call the model before people."""
        ...

    async def load(self) -> None:
        """Make ready to score. May take seconds; a second call does nothing.

        Raises:
          RerankError: a file is absent, or is no model of this kind.
        """
        ...

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in the order given; higher fits better, and only scores of one call compare.

        A text's score does not depend on the others. Calls may overlap. Only the first 256 tokens of query and text
        together count. Cancellation: the caller goes on at once; the text under way ends unseen, the others are not
        begun.

        Raises:
          RerankError: the model failed.
        """
        ...


class Scorer(Protocol):
    """The rerank model, if there is one."""

    @property
    def is_ready(self) -> bool:
        """Whether a model is set and loaded."""
        ...

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each of ``texts`` fits ``query``, higher is better.

        Raises:
          RerankError: there is no model that is ready, or it failed.
        """
        ...
