"""Building calls: their project, their request, and whether they may be repeated."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from kiro_learn.client import InvalidRequest, KiroLearn, calls, json_calls, project_calls
from kiro_learn.client.building import LEARNING_PATIENCE_SECONDS, Call, Caller, Filters

SHOP = Caller("shop")


def query_of(call: Call[Any]) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(call.target).query).items()}


def body_of(call: Call[Any]) -> dict[str, Any]:
    assert call.body is not None
    body: dict[str, Any] = json.loads(call.body)
    return body


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("shop", "shop"),
        ("/home/ada/shop", "/home/ada/shop"),
        (Path("/home/ada/shop"), "/home/ada/shop"),
        ("/actor/ada/project/shop/", "/actor/ada/project/shop/"),
        (".", "{cwd}"),
        ("..", "{cwd}/.."),
        (Path("shop"), "{cwd}/shop"),
        ("src/shop", "{cwd}/src/shop"),
        ("~/shop", "{home}/shop"),
    ],
)
def test_a_project_is_a_folder_or_a_name(
    given: Path | str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    expected = os.path.normpath(told.format(cwd=tmp_path, home="/home/ada")) + ("/" if told.endswith("/") else "")
    assert Caller().project_named(given) == expected
    assert Caller(given).project_named() == expected
    assert Caller(given).project_named("another") == "another"


def test_a_folder_stays_the_same_when_the_program_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here, wherever = Caller("."), Caller()
    monkeypatch.chdir("/")
    assert (here.project_named(), wherever.project_named()) == (str(tmp_path), "/")


def test_without_a_folder_the_project_has_to_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InvalidRequest, match="project: is missing") as caught:
        Caller().project_named()
    assert caught.value.hint == "Name a project: the current folder is gone."
    assert Caller().project_named("shop") == "shop"


def test_only_what_is_given_is_asked() -> None:
    assert query_of(calls.search_advanced(SHOP, "a AND b")) == {"q": "a AND b", "project": "shop", "limit": "10"}
    assert query_of(calls.search(SHOP, "a")) == {"q": "a", "project": "shop", "limit": "10", "lenient": "true"}
    assert query_of(calls.hybrid_search(SHOP, "a", across_projects=True))["across_projects"] == "true"
    assert body_of(calls.store_observation(SHOP, "t", concepts=["c"])) == {
        "project": "shop",
        "title": "t",
        "type": "manual",
        "concepts": ["c"],
    }
    edited = body_of(calls.edit(SHOP, "mr_1", text="", facts=()))
    assert edited == {"project": "shop", "id": "mr_1", "text": "", "facts": []}, "what is emptied is not left as it is"


def test_every_search_and_the_list_take_the_same_filters() -> None:
    filters: Filters = {"session": "s", "concept": "auth", "file": "a.py", "stale": False, "type": "decision"}
    written = {"session": "s", "concept": "auth", "file": "a.py", "stale": "false", "type": "decision"}
    for call in (
        calls.search_advanced(SHOP, "a", **filters),
        calls.semantic_search(SHOP, "a", **filters),
        calls.hybrid_search(SHOP, "a", **filters),
        project_calls.observations(SHOP, **filters),
    ):
        assert query_of(call).items() >= written.items()


def test_a_filter_that_there_is_not_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'typ'; filters are type, since, until, session"):
        calls.hybrid_search(SHOP, "a", typ="decision")  # type: ignore[call-arg]  # what mypy would not let pass


def test_a_text_is_no_list_of_letters() -> None:
    assert body_of(calls.store_observation(SHOP, "t", concepts="auth"))["concepts"] == "auth", "which is refused"


def test_a_text_where_several_are_wanted_is_sent_as_it_is_so_that_it_is_refused() -> None:
    """Not letter by letter: that was kept as steps."""
    text: Any = "push the tag"
    assert body_of(json_calls.add_procedure(SHOP, "Release", text))["procedure"]["steps"] == text
    assert body_of(json_calls.edit(SHOP, "pr_1", steps=text, aliases=text))["correction"] == {
        "steps": text,
        "aliases": text,
    }
    assert body_of(json_calls.preview_forgetting(SHOP, memories=text))["memories"] == text
    assert query_of(json_calls.picture(SHOP, show=text))["show"] == text


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        (date(2026, 1, 5), "2026-01-05"),
        ("2026-01-05", "2026-01-05"),
        (datetime(2026, 1, 5, 12, tzinfo=UTC), "2026-01-05T12:00:00+00:00"),
        (datetime(2026, 1, 5, 12, tzinfo=timezone(timedelta(hours=2))), "2026-01-05T12:00:00+02:00"),
    ],
)
def test_a_moment_is_a_day_or_has_an_offset(moment: date | str, told: str) -> None:
    assert query_of(project_calls.observations(SHOP, since=moment))["since"] == told


def test_a_moment_without_a_zone_is_local() -> None:
    told = query_of(project_calls.observations(SHOP, until=datetime(2026, 1, 5, 12)))["until"]  # noqa: DTZ001  # on purpose
    assert datetime.fromisoformat(told) == datetime(2026, 1, 5, 12).astimezone()  # as above


def test_an_id_opens_no_other_path() -> None:
    assert calls.forget(SHOP, "../stats?x=").target == "/v1/memories/..%2Fstats%3Fx%3D"
    assert calls.same_words(SHOP, "../x").target == "/v1/memories/..%2Fx/same-words"


def test_what_holds_the_same_words_goes_only_if_it_is_asked_for() -> None:
    assert calls.forget(SHOP, "mr_1").target == "/v1/memories/mr_1"
    assert calls.forget(SHOP, "mr_1", same_words=True).target == "/v1/memories/mr_1?same_words=true"


def test_what_stores_or_changes_is_asked_once() -> None:
    once = (
        calls.store_observation(SHOP, "t"),
        calls.store_knowledge(SHOP, "t", "c", knowledge_type="heuristic"),
        calls.store_summary(SHOP, "t", session="s"),
        calls.edit(SHOP, "mr_1", title="t"),
        calls.forget(SHOP, "mr_1"),
        calls.detect_stale_observations(SHOP),
    )
    assert not any(call.is_repeatable for call in once)
    again = (
        calls.search(SHOP, "q"),
        calls.recall(SHOP, "q"),
        project_calls.report(SHOP),
        calls.backfill_embeddings(SHOP),
    )
    assert all(call.is_repeatable for call in again)


def test_a_backfill_may_take_long() -> None:
    assert calls.backfill_embeddings(SHOP, 100).patience_seconds == LEARNING_PATIENCE_SECONDS
    assert body_of(calls.backfill_embeddings(SHOP, 100)) == {"batchSize": 100}


def test_what_is_no_unicode_text_reaches_the_daemon_which_says_where_it_is() -> None:
    assert (
        body_of(calls.store_observation(SHOP, "caf\N{LATIN SMALL LETTER E WITH ACUTE} \udcff"))["title"]
        == "caf\xe9 \udcff"
    )
    assert "%ED%B3%BF" in calls.search(SHOP, "caf\udcff").target


def test_a_look_at_all_files_is_waited_for_as_long_as_it_takes() -> None:
    assert calls.detect_stale(SHOP).patience_seconds == LEARNING_PATIENCE_SECONDS


WRONG: dict[str, tuple[str, Callable[[], object]]] = {
    "a number for a project": ("$.project", lambda: calls.search(SHOP, "q", project=5)),  # type: ignore[arg-type]
    "bytes for a project": ("$.project", lambda: Caller(b"shop")),  # type: ignore[arg-type]
    "no id": ("$.id", lambda: calls.get(SHOP, None)),  # type: ignore[arg-type]
    "a set for a text": ("$.text", lambda: calls.store_observation(SHOP, "t", text={"a"})),  # type: ignore[arg-type]
    "bytes for a title": ("$.title", lambda: calls.store_observation(SHOP, b"t")),  # type: ignore[arg-type]
    "no number": ("$.batchSize", lambda: calls.backfill_embeddings(SHOP, float("nan"))),  # type: ignore[arg-type]
    "a number for a home": ("$.home", lambda: KiroLearn(home=5)),  # type: ignore[arg-type]
    "a text for patience": ("$.patience_seconds", lambda: KiroLearn(patience_seconds="10")),  # type: ignore[arg-type]
    "a number for a URL": ("$.url", lambda: KiroLearn(url=5).sessions()),  # type: ignore[arg-type]
    "a number for a token": ("$.token", lambda: KiroLearn(token=5).sessions()),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("path", "ask"), WRONG.values(), ids=WRONG)
def test_a_value_of_another_type_is_named(path: str, ask: Callable[[], object]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        ask()
    assert [each for each, _ in caught.value.problems] == [path]


@pytest.mark.parametrize("files", [None, 5, {"a": 1}])
def test_what_is_no_list_is_for_the_daemon_to_refuse(files: Any) -> None:
    body = body_of(calls.store_observation(SHOP, "t", files_read=files))
    assert body.get("files_read") == files


def test_a_moment_at_an_end_of_the_calendar_is_for_the_daemon_to_refuse() -> None:
    call = project_calls.observations(SHOP, since=datetime.min)  # noqa: DTZ901  # on purpose
    assert query_of(call)["since"].startswith("0001-01-01T00:00:00")


def test_a_home_may_be_a_text(tmp_path: Path) -> None:
    assert KiroLearn(home=str(tmp_path)).home == tmp_path


@pytest.mark.parametrize("name", ["session", "project", "source", "query", "secret"])
def test_an_empty_selection_is_sent_so_that_it_is_refused_and_widens_nothing(name: str) -> None:
    selection: Any = {"since": "2026-01-01", name: ""}
    assert body_of(json_calls.forget_selected(SHOP, **selection))[name] == ""
    assert body_of(json_calls.pause(SHOP, session=""))["session"] == ""


def test_a_scope_that_was_never_set_is_sent_so_that_it_is_refused_and_widens_nothing() -> None:
    unset: Any = None
    added = (
        json_calls.add_fact(SHOP, "uses", "Redis", scope=unset),
        json_calls.add_preference(SHOP, "Squash before a merge", scope=unset),
    )
    for call in added:
        body = body_of(call)
        assert "scope" in body
        assert body["scope"] is None
