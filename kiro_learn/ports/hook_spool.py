"""The port to hook requests that could not be delivered when they happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar


class UndeliveredHook(Protocol):
    """One request, as ``POST /v1/hooks/{agent}`` would have received it."""

    @property
    def agent(self) -> str:
        """The agent's name, as in the request's path."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The request's headers; those that begin with ``X-Hook-`` are percent-encoded."""
        ...

    @property
    def payload(self) -> bytes:
        """The request's body: what the agent wrote."""
        ...


RequestT = TypeVar("RequestT", bound=UndeliveredHook)


class HookSpool(Protocol[RequestT]):
    """Keeps requests until they are taken.

    All methods but ``problems`` look at the disk, and belong off the event loop. None raises for what it finds: what
    cannot be read or removed is named in ``problems``, and the others go on.
    """

    def waiting(self) -> Iterator[RequestT]:
        """Each request that waits, oldest first."""
        ...

    def done(self, request: RequestT, /) -> None:
        """Forget a request that was taken."""
        ...

    def put_aside(self, request: RequestT, /) -> None:
        """Keep a request that cannot be taken where it does not come again."""
        ...

    def problems(self) -> Sequence[str]:
        """What could not be read or removed at the last look, each with the reason."""
        ...
