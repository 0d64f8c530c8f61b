"""A code works once, for a minute. A cookie outlives the daemon, and nobody else can make one."""

from __future__ import annotations

import pytest

from kiro_learn.frontends.viewer.routes import CODE_SECONDS, COOKIE, COOKIE_SECONDS, MOST_CODES, Login

TOKEN = "the token of this test"


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def a_login(token: str = TOKEN) -> tuple[Login, Watch]:
    watch = Watch()
    return Login(token, now=watch, clock=watch), watch


def header(cookie: str | None) -> bytes:
    return f"other=1; {COOKIE}={cookie}; more=2".encode()


def test_a_code_works_once() -> None:
    login, _ = a_login()
    code = login.new_code()
    assert login.knows([header(login.cookie_for(code))])
    assert login.cookie_for(code) is None


def test_a_code_dies_after_a_minute() -> None:
    login, watch = a_login()
    first, second = login.new_code(), login.new_code()
    watch.seconds += CODE_SECONDS - 1
    assert login.cookie_for(first)
    watch.seconds += 1
    assert login.cookie_for(second) is None


@pytest.mark.parametrize("code", ["", "nothing that was given out"])
def test_what_is_no_code_is_worth_nothing(code: str) -> None:
    assert a_login()[0].cookie_for(code) is None


def test_only_so_many_codes_wait() -> None:
    login, _ = a_login()
    codes = [login.new_code() for _ in range(MOST_CODES + 1)]
    assert login.cookie_for(codes[0]) is None
    assert all(login.cookie_for(code) for code in codes[1:])


def test_a_cookie_is_good_for_the_next_daemon_with_this_token_and_for_no_other() -> None:
    login, _ = a_login()
    cookie = login.cookie_for(login.new_code())
    assert a_login()[0].knows([header(cookie)])
    assert not a_login("another token")[0].knows([header(cookie)])


def test_a_cookie_ends() -> None:
    login, watch = a_login()
    cookie = login.cookie_for(login.new_code())
    watch.seconds += COOKIE_SECONDS - 1
    assert login.knows([header(cookie)])
    watch.seconds += 1
    assert not login.knows([header(cookie)])


def test_a_cookie_says_nothing_of_the_token_and_never_the_same_twice() -> None:
    login, _ = a_login()
    first, second = (login.cookie_for(login.new_code()) for _ in range(2))
    assert first != second
    assert TOKEN not in str(first)


@pytest.mark.parametrize("change", [0, 8, 20, -1])
def test_a_cookie_with_one_other_character_is_none(change: int) -> None:
    login, _ = a_login()
    cookie = str(login.cookie_for(login.new_code()))
    other = "0" if cookie[change] != "0" else "1"
    changed = cookie[:change] + other + cookie[change + 1 :] if change >= 0 else cookie[:-1] + other
    assert not login.knows([header(changed)])


@pytest.mark.parametrize(
    "value", [b"", b"kl_ui", b"kl_ui=", b"kl_ui=.", b"kl_ui=9999999999..", b"kl_ui=\xff.\xff", b";=;"]
)
def test_any_bytes_are_no_cookie(value: bytes) -> None:
    assert not a_login()[0].knows([value])
