"""Errors become statuses by one table."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from kiro_learn import errors
from kiro_learn.frontends.http.answers import STATUS, answer_for


def leaves(cls: type[errors.KiroLearnError]) -> Iterator[type[errors.KiroLearnError]]:
    below = [each for each in cls.__subclasses__() if each.__module__ == errors.__name__]
    if not below:
        yield cls
    for each in below:
        yield from leaves(each)


@pytest.mark.parametrize("leaf", list(leaves(errors.KiroLearnError)), ids=lambda cls: cls.__name__)
def test_every_error_has_its_status(leaf: type[errors.KiroLearnError]) -> None:
    assert leaf in STATUS, f"{leaf.__name__} has no row in {inspect.getsourcefile(answer_for)}"


def test_faults_of_the_caller_are_not_ours() -> None:
    for cls, status in STATUS.items():
        assert (status < 500) == (issubclass(cls, errors.RequestError | errors.LifecycleError) and status != 503)


def test_asking_later_is_not_advised_where_the_settings_say_no() -> None:
    off, failed = answer_for(errors.EmbeddingOff()), answer_for(errors.EmbeddingError("broken"))
    assert (off.status, "Retry-After" in off.headers) == (503, False)
    assert (failed.status, "Retry-After" in failed.headers) == (503, True)
