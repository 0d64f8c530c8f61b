from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.home import default_home
from kiro_learn.home.spool import parsed


def test_the_home_is_where_the_environment_says(tmp_path: Path) -> None:
    assert default_home({"KIRO_LEARN_HOME": str(tmp_path)}) == tmp_path
    assert default_home({"KIRO_LEARN_HOME": ""}) == Path.home() / ".kiro-learn"
    assert default_home({"KIRO_LEARN_HOME": "~/x"}) == Path.home() / "x"
    assert default_home({"KIRO_LEARN_HOME": "x"}).is_absolute()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"POST /v1/hooks/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{",
        b"POST /v1/hooks/a HTTP/1.1\r\n\r\n{}",
        b"GET /v1/hooks/a HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /v1/events HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_is_not_a_whole_request_is_not_taken_for_one(content: bytes) -> None:
    assert parsed(Path("x"), content) is None


def test_an_agents_name_comes_back_as_it_was() -> None:
    request = parsed(Path("x"), b"POST /v1/hooks/a%20b?retrieve=true HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
    assert request is not None
    assert request.agent == "a b"
