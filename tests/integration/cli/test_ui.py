"""``ui`` prints a link that lets one browser in, and opens it only if there is a screen."""

from __future__ import annotations

import http.client
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.integration.cli.command_line import done, kiro_learn
from tests.integration.cli.test_demo import demo, user  # noqa: F401  # a fixture
from tests.integration.daemon_process import running_daemon

LINK = re.compile(r"http://\S+/ui/\?k=\S+")


def a_browser(folder: Path) -> tuple[dict[str, str], Path]:
    """An environment whose browser only notes the link, and the file with the notes."""
    program, opened = folder / "browser", folder / "opened"
    program.write_text(f'#!/bin/sh\necho "$1" >> {opened}\n')
    program.chmod(0o755)
    return {"BROWSER": str(program), "DISPLAY": ":0"}, opened


def lets_in(link: str) -> bool:
    place = urlsplit(link)
    connection = http.client.HTTPConnection(place.netloc)
    connection.request("GET", f"{place.path}?{place.query}")
    answer = connection.getresponse()
    connection.close()
    return answer.status == 303 and "kl_ui=" in answer.headers["Set-Cookie"]


def test_the_link_is_printed_opened_and_good_once(tmp_path: Path) -> None:
    screen, opened = a_browser(tmp_path)
    with running_daemon(tmp_path / "home"):
        printed = done(kiro_learn(tmp_path / "home", "ui", changes=screen))
        (link,) = LINK.findall(printed)
        assert opened.read_text().splitlines() == [link]
        assert [lets_in(link), lets_in(link)] == [True, False]
        printed = done(kiro_learn(tmp_path / "home", "ui", "--no-open", "--json", changes=screen))
        assert lets_in(json.loads(printed)["link"])
        done(kiro_learn(tmp_path / "home", "ui", changes={**screen, "DISPLAY": "", "WAYLAND_DISPLAY": ""}))
        assert opened.read_text().splitlines() == [link]


def test_a_demo_that_stays_is_shown_under_another_name_than_the_users_own(user: Path) -> None:  # noqa: F811  # a fixture
    printed = done(demo(user, "--ui"))
    (link,) = LINK.findall(printed)
    assert urlsplit(link).hostname == "localhost"
    assert lets_in(link)
