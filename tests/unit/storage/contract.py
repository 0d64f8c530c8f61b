"""The contract of ``StorageBackend``, promise by promise. A store promises nothing else.

Each promise is a function of an empty store; ``test_contract`` has every store keep every one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import PurePath
from typing import TypeAlias

from kiro_learn.ports.storage.interface import StorageBackend

Promise: TypeAlias = Callable[[StorageBackend], Awaitable[None]]

USER_HOME = PurePath("/home/ann")

PROMISES: list[Promise] = []


def promise(function: Promise) -> Promise:
    PROMISES.append(function)
    return function
