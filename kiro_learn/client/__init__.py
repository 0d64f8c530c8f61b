"""The daemon's API for Python: ``KiroLearn``, ``AsyncKiroLearn``, and what they return and raise.

Modules are loaded when their names are first used: the MCP process and the hook's script need only a part of this
package, and a synchronous program does not need anyio.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiro_learn.client.address import DaemonNotReady, DaemonSilent, DaemonUnreachable
    from kiro_learn.client.asynchronous import AsyncKiroLearn
    from kiro_learn.client.building import AnotherBuild, AnswerNotUnderstood, FilesUnchecked, RequestRefused
    from kiro_learn.client.results import (
        REPEATED,
        Analytics,
        Details,
        EmbeddingStats,
        Forgotten,
        FoundMemory,
        Memory,
        MemoryPage,
        ProjectFact,
        Recalled,
        Repeat,
        Report,
        SearchResult,
        SearchResults,
        Session,
        SessionContext,
        Signals,
        StaleDetection,
        StoredId,
        TimelineEntry,
        TokenEconomics,
    )
    from kiro_learn.client.synchronous import KiroLearn
    from kiro_learn.errors import InvalidRequest, KiroLearnError

__all__ = [
    "REPEATED",
    "Analytics",
    "AnotherBuild",
    "AnswerNotUnderstood",
    "AsyncKiroLearn",
    "DaemonNotReady",
    "DaemonSilent",
    "DaemonUnreachable",
    "Details",
    "EmbeddingStats",
    "FilesUnchecked",
    "Forgotten",
    "FoundMemory",
    "InvalidRequest",
    "KiroLearn",
    "KiroLearnError",
    "Memory",
    "MemoryPage",
    "ProjectFact",
    "Recalled",
    "Repeat",
    "Report",
    "RequestRefused",
    "SearchResult",
    "SearchResults",
    "Session",
    "SessionContext",
    "Signals",
    "StaleDetection",
    "StoredId",
    "TimelineEntry",
    "TokenEconomics",
]

_ELSEWHERE = {
    "AnotherBuild": "client.building",
    "AnswerNotUnderstood": "client.building",
    "AsyncKiroLearn": "client.asynchronous",
    "DaemonNotReady": "client.address",
    "DaemonSilent": "client.address",
    "DaemonUnreachable": "client.address",
    "FilesUnchecked": "client.building",
    "InvalidRequest": "errors",
    "KiroLearn": "client.synchronous",
    "KiroLearnError": "errors",
    "RequestRefused": "client.building",
}
"""The modules of names; all other names are in ``client.results``."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"kiro_learn.{_ELSEWHERE.get(name, 'client.results')}"), name)


def __dir__() -> list[str]:
    return __all__
