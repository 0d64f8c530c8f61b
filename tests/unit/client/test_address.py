"""The home that is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiro_learn.client import AsyncKiroLearn, InvalidRequest, KiroLearn
from kiro_learn.client.address import default_home
from kiro_learn.client.building import DaemonPlace


def test_the_home_is_where_the_environment_says(tmp_path: Path) -> None:
    assert default_home({"KIRO_LEARN_HOME": str(tmp_path)}) == tmp_path
    assert default_home({"KIRO_LEARN_HOME": ""}) == Path.home() / ".kiro-learn"
    assert default_home({"KIRO_LEARN_HOME": "~/x"}) == Path.home() / "x"
    assert default_home({"KIRO_LEARN_HOME": "x"}).is_absolute()


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:21100", "127.0.0.1:21100", "http://127.0.0.1:99999", "http://", "http://[::1"]
)
def test_a_url_is_one_of_a_daemon_which_speaks_plain_http(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"^") as caught:
        DaemonPlace(tmp_path, url, "token").find()
    assert caught.value.problems[0][0] == "$.url"


def test_a_token_is_the_content_of_its_file_with_the_end_of_its_line(tmp_path: Path) -> None:
    assert DaemonPlace(tmp_path, "http://127.0.0.1:21100", "a-token\n").find().token == "a-token"


@pytest.mark.parametrize("token", ["a\nb", "\N{SNOWMAN}", "\n"])
def test_a_token_is_one_that_a_header_can_hold(token: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest) as caught:
        DaemonPlace(tmp_path, "http://127.0.0.1:21100", token).find()
    assert caught.value.problems[0][0] == "$.token"


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
@pytest.mark.parametrize("client", [KiroLearn, AsyncKiroLearn])
def test_patience_is_longer_than_nothing(client: type[KiroLearn | AsyncKiroLearn], seconds: float) -> None:
    with pytest.raises(InvalidRequest) as caught:
        client("p", patience_seconds=seconds)
    assert caught.value.problems[0][0] == "$.patience_seconds"
