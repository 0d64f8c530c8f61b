"""Hook requests that could not be delivered when they happened: the contract of whoever kept them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar


class UndeliveredHook(Protocol):
    """One request, as ``POST /v1/hooks/{agent}`` would have received it."""

    @property
    def agent(self) -> str: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def payload(self) -> bytes: ...


RequestT = TypeVar("RequestT", bound=UndeliveredHook)


class HookSpool(Protocol[RequestT]):
    """Keeps requests until they are taken. Both methods look at the disk, and belong off the event loop."""

    def waiting(self) -> Iterator[RequestT]:
        """Each request that waits, oldest first."""
        ...

    def done(self, request: RequestT, /) -> None:
        """Forget a request that was taken."""
        ...
