"""The head of a request decides whether the client may ask."""

from __future__ import annotations

import pytest

from kiro_learn.frontends.http.intake import Head, refusal
from kiro_learn.frontends.viewer.routes import Login
from tests.unit.frontends.http.asking import OURS, TOKEN, Client, with_client

HOST = (b"host", b"127.0.0.1:21100")
KEY = (b"x-worker-token", TOKEN.encode())
LOGIN = Login(TOKEN)


def status(*headers: tuple[bytes, bytes], method: str = "GET", path: str = "/v1/status", port: int = 21100) -> int:
    refused = refusal(Head(method=method, path=path, headers=headers, port=port), TOKEN.encode(), LOGIN)
    return 200 if refused is None else refused.status


@pytest.mark.parametrize("host", [b"localhost:21100", b"127.0.0.1:21100", b"[::1]:21100", b"LOCALHOST:21100"])
def test_our_own_names_are_let_in(host: bytes) -> None:
    assert status((b"host", host), KEY) == 200


@pytest.mark.parametrize(
    "host",
    [
        b"", b"evil.example", b"evil.example:21100", b"127.0.0.1", b"127.0.0.1:21101", b"localhost.evil.example:21100",
        b"127.0.0.1:21100.evil.example", b"127.1:21100", b"0.0.0.0:21100", b"user@localhost:21100", b"localhost:21100 ",
        b"[::ffff:127.0.0.1]:21100", b"\xff:21100",
    ],
)  # fmt: skip
def test_any_other_name_is_a_page_that_resolves_to_us(host: bytes) -> None:
    assert status((b"host", host), KEY) == 403


def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    assert status(KEY) == 403
    assert status(HOST, HOST, KEY) == 403


def test_the_default_port_may_be_left_out() -> None:
    assert status((b"host", b"localhost"), KEY, port=80) == 200


@pytest.mark.parametrize("origin", [b"http://127.0.0.1:21100", b"http://localhost:21100"])
def test_our_own_pages_are_let_in(origin: bytes) -> None:
    assert status(HOST, KEY, (b"origin", origin)) == 200


@pytest.mark.parametrize(
    "origin",
    [b"null", b"", b"https://127.0.0.1:21100", b"http://127.0.0.1:3000", b"http://evil.example", b"http://localhost"],
)
def test_pages_of_others_are_refused(origin: bytes) -> None:
    assert status(HOST, KEY, (b"origin", origin)) == 403
    assert status(HOST, KEY, (b"origin", b"http://localhost:21100"), (b"origin", origin)) == 403


def test_only_same_origin_fetches_and_typed_addresses_are_let_in() -> None:
    answers = {site: status(HOST, KEY, (b"sec-fetch-site", site)) for site in SITES}
    assert answers == {b"same-origin": 200, b"none": 200, b"same-site": 403, b"cross-site": 403, b"": 403}


SITES = (b"same-origin", b"none", b"same-site", b"cross-site", b"")


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", b"Bearer " + TOKEN.encode()),
        (b"authorization", b"bearer  " + TOKEN.encode()),
        (b"x-worker-token", TOKEN.encode()),
    ],
)
def test_the_token_may_come_either_way(header: tuple[bytes, bytes]) -> None:
    assert status(HOST, header) == 200


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", TOKEN.encode()),
        (b"authorization", b"Basic " + TOKEN.encode()),
        (b"authorization", b"Bearer"),
        (b"x-worker-token", b""),
        (b"x-worker-token", TOKEN.encode() + b"x"),
        (b"x-worker-token", b"\xff"),
        (b"cookie", b"token=" + TOKEN.encode()),
    ],
)
def test_without_the_token_no_request_is_let_in(header: tuple[bytes, bytes]) -> None:
    assert status(HOST, header) == 401


def test_only_healthz_may_be_read_without_the_token() -> None:
    assert status(HOST, path="/healthz") == 200
    assert status(HOST, path="/healthz", method="HEAD") == 200
    assert status(HOST, path="/healthz", method="POST") == 401
    for path in ("/healthz/", "//healthz", "/healthz/../v1/status", "/v1/nowhere", "/"):
        assert status(HOST, path=path) == 401


def test_a_stranger_does_not_learn_whether_the_token_is_right() -> None:
    assert status((b"host", b"evil.example"), KEY) == status((b"host", b"evil.example")) == 403


@pytest.mark.parametrize("path", ["/v1/\x00", "/v1/a\nb", "/v1/\x7f", "/v1/\ufffd", "*", "", "http://127.0.0.1:21100/"])
def test_a_path_that_is_none_is_refused_first(path: str) -> None:
    assert status(path=path) == 400


@with_client
async def test_the_guard_stands_before_everything(client: Client) -> None:
    for path in ("/v1/status", "/v1/nowhere", "/", "/static/x"):
        assert (await client.get(path, only={"Host": "127.0.0.1:21100"})).status == 401
        assert (await client.get(path, only=OURS | {"Host": "evil.example"})).status == 403


@with_client
async def test_every_answer_forbids_keeping_and_sniffing_and_none_invites_other_origins(client: Client) -> None:
    for reply in (
        await client.get("/healthz"),
        await client.get("/v1/nowhere"),
        await client.get("/v1/status", only={}),
        await client.ask("OPTIONS", "/v1/events", headers={"Origin": "http://127.0.0.1:21100"}),
    ):
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control-") for name in reply.headers)


@with_client
async def test_who_lacks_the_token_is_told_what_to_send(client: Client) -> None:
    reply = await client.get("/v1/status", only={"Host": "127.0.0.1:21100"})
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert "token" in reply.json["hint"]


def a_cookie() -> tuple[bytes, bytes]:
    return (b"cookie", f"kl_ui={LOGIN.cookie_for(LOGIN.new_code())}".encode())


@with_client
async def test_a_cookie_is_enough_to_read_and_from_our_own_page_to_write(client: Client) -> None:
    cookie, own = a_cookie(), (b"origin", b"http://localhost:21100")
    assert status(HOST, cookie) == 200
    for method in ("POST", "PATCH", "DELETE"):
        assert status(HOST, cookie, method=method) == 401
        assert status(HOST, cookie, own, method=method) == 200
        assert status(HOST, cookie, (b"origin", b"http://localhost:3000"), method=method) == 403
    assert status(HOST, cookie, own, method="POST", path="/v1/ui/code") == 401


def test_the_viewers_files_are_open_to_readers_and_its_data_is_not() -> None:
    assert status(HOST, path="/ui/app.js") == 200
    assert status(HOST, path="/ui/app.js", method="POST") == 401
    assert status(HOST, path="/ui/memories.json") == 401
    assert status((b"host", b"evil.example"), path="/ui/") == 403
