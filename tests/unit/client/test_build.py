"""Two builds of one version are told apart, and that explains a route that only one of them knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from werkzeug.exceptions import NotFound

from kiro_learn.client import AnotherBuild, RequestRefused, project_calls
from kiro_learn.client.address import build_id, digest_of
from kiro_learn.client.building import BUILD_HEADER, Caller, DaemonPlace, Response
from kiro_learn.frontends.http.answers import answer_for

PLACE = DaemonPlace(Path("/nowhere"), "http://daemon")
CALL = project_calls.sessions(Caller("shop"))


def test_a_build_is_known_by_the_names_and_contents_of_its_sources(tmp_path: Path) -> None:
    def build() -> str:
        return digest_of(tmp_path)

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.py").write_text("1")
    first = build()
    (tmp_path / "a" / "one.cpython.pyc").write_text("compiled")
    assert build() == first
    (tmp_path / "a" / "one.py").write_text("2")
    second = build()
    (tmp_path / "a" / "one.py").rename(tmp_path / "a" / "two.py")
    assert len({first, second, build()}) == 3


@pytest.mark.parametrize("headers", [{}, {BUILD_HEADER: "of before the update"}], ids=["none", "another"])
@pytest.mark.parametrize(("status", "error"), [(404, "not found"), (405, "method not allowed")])
def test_a_route_that_another_build_does_not_know_is_explained(
    status: int, error: str, headers: dict[str, str]
) -> None:
    said = Response(status, headers, b'{"error": "%s"}' % error.encode())
    with pytest.raises(
        AnotherBuild, match="is of another build than this client, and does not know /api/sess"
    ) as caught:
        PLACE.result_of(CALL, said)
    assert caught.value.hint == "kiro-learn restart"


def test_what_our_own_build_does_not_find_is_not_found() -> None:
    answer = answer_for(NotFound())
    assert answer.headers == {BUILD_HEADER: build_id()}
    with pytest.raises(RequestRefused, match="not found"):
        PLACE.result_of(CALL, Response(answer.status, answer.headers, answer.body))
    with pytest.raises(RequestRefused, match="no memory has the id"):
        PLACE.result_of(CALL, Response(404, {}, b'{"error": "no memory has the id mr_1"}'))
