"""A memory is named by the end of its id, if no other id ends so."""

from __future__ import annotations

from typing import Any

import pytest

from kiro_learn.client.building import RequestRefused
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli import record_ids
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.frontends.cli.shell import Failed
from tests.unit.frontends.cli.samples import record

PROJECT = Project("web-shop", "/actor/ana/project/abc/", "abc")
FIRST = record()
OTHER = record(record_id="mr_01JD3V8M2N5R7T9WXYZ0R5T4M2", title="Another")


OLD = record(record_id="mr_01JD3V8M2N5R7T9WXYZ0A7B8C9", title="As it was")


class Shelf(Client):
    """A client whose daemon has these memories."""

    def __init__(self, *records: dict[str, Any]) -> None:
        super().__init__(url="http://127.0.0.1:1")
        self._records = records

    def memories(self, *, namespace: str | None = None, limit: int = 50, offset: int = 0) -> dict[str, Any]:
        kept = [each for each in self._records if each["namespace"] == namespace]
        return {"items": kept[offset : offset + limit], "total": len(kept), "limit": limit, "offset": offset}

    def memory(self, record_id: str) -> dict[str, Any]:
        for each in self._records:
            if each["record_id"] == record_id:
                return each
        raise RequestRefused(404, f"no memory has the id {record_id}")

    def history(self, record_id: str) -> dict[str, Any]:
        replaced = [{"replaced": [OLD]}] if record_id == FIRST["record_id"] else []
        return {"record_id": record_id, "replacements": replaced}


def found(ending: str, *records: dict[str, Any]) -> dict[str, Any]:
    return record_ids.found(Shelf(*(records or (FIRST, OTHER))), ending, [PROJECT])


@pytest.mark.parametrize("ending", ["K7Q4M2", "k7q4m2", "…K7Q4M2", "...K7Q4M2", "Q4M2", FIRST["record_id"]])
def test_a_unique_ending_names_a_memory(ending: str) -> None:
    assert found(ending) is FIRST


def test_the_last_of_many_pages_is_looked_at_too() -> None:
    many = [record(record_id=f"mr_01JD3V8M2N5R7T9WXYZ0{number:06}") for number in range(1001)]
    assert found("001000", *many)["record_id"].endswith("001000")


def test_an_ending_of_two_names_neither() -> None:
    same = record(record_id="mr_01JD3V8M2N5R7T9WXYZ1K7Q4M2")
    with pytest.raises(Failed, match='"K7Q4M2" is the end of 2 ids in web-shop') as caught:
        found("K7Q4M2", FIRST, same)
    assert same["record_id"] in caught.value.hint


def test_an_unknown_ending_is_answered_with_the_closest() -> None:
    with pytest.raises(Failed, match='no memory ends in "K7Q4M9" in web-shop') as caught:
        found("K7Q4M9")
    assert caught.value.hint == 'closest: …K7Q4M2 "Refresh tokens before the expiry check"'


def test_an_ending_that_is_near_nothing_is_answered_with_the_list() -> None:
    with pytest.raises(Failed, match="no memory ends in") as caught:
        found("AAAA")
    assert caught.value.hint == "kiro-learn memories list"


def test_a_short_ending_is_wrong_usage() -> None:
    with pytest.raises(Failed, match="too short") as caught:
        found("4M2")
    assert caught.value.exit_code == 2


def test_a_full_id_is_of_the_project_that_is_named_or_of_any_if_none_is() -> None:
    elsewhere = record(record_id=OTHER["record_id"], namespace="/actor/ana/project/other/")
    shelf, named = Shelf(FIRST, elsewhere), PROJECT._replace(is_named=True)
    assert record_ids.found(shelf, FIRST["record_id"], [named]) is FIRST
    assert record_ids.found(shelf, elsewhere["record_id"], [PROJECT]) is elsewhere
    with pytest.raises(Failed, match="R5T4M2 is not in web-shop") as caught:
        record_ids.found(shelf, elsewhere["record_id"], [named])
    assert "without --project" in caught.value.hint


def test_an_unknown_full_id_is_named() -> None:
    with pytest.raises(Failed, match="no memory has the id mr_0"):
        found("mr_" + "0" * 26)


@pytest.mark.parametrize(
    ("asked", "is_elsewhere", "typed"),
    [
        ("q4m2", False, "K7Q4M2"),
        ("q4m2", True, FIRST["record_id"]),
        (FIRST["record_id"], False, FIRST["record_id"]),
    ],
)
def test_the_end_of_an_id_is_to_be_typed_only_where_it_names_the_memory(
    asked: str, is_elsewhere: bool, typed: str
) -> None:
    assert record_ids.to_type(FIRST["record_id"], asked, is_elsewhere=is_elsewhere) == typed


@pytest.mark.parametrize("ending", ["A7B8C9", OLD["record_id"]])
def test_an_id_of_before_a_correction_is_answered_with_what_stands_for_it(ending: str) -> None:
    with pytest.raises(Failed, match=r'…A7B8C9 was corrected: …K7Q4M2 "Refresh tokens .*" replaces it') as caught:
        found(ending, {**FIRST, "strategy": "edited"}, OTHER)
    assert caught.value.hint == f"kiro-learn memories show {FIRST['record_id']}"
