"""The files that ``/ui/`` serves, who gets them, and their headers."""

from __future__ import annotations

import gzip
from urllib.parse import quote

import pytest

from kiro_learn.frontends.viewer.routes import FOLDER, PAGES, names
from kiro_learn.testing.daemon import NAMESPACE, an_event
from kiro_learn.testing.simulation import simulate
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import TOKEN, Client, Reply, a_client, with_client

HOST = {"Host": "127.0.0.1:21100"}
ORIGIN = "http://127.0.0.1:21100"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types kl"
)
KNOWN_ONLY_TO_PAGES = '<div id="app">'


async def logged_in(client: Client) -> dict[str, str]:
    """The headers of a browser that was let in."""
    path = (await client.post("/v1/ui/code")).json["path"]
    reply = await client.get(path, only=HOST)
    assert (reply.status, reply.headers["location"]) == (303, "/ui/")
    cookie, *attributes = reply.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert TOKEN not in cookie
    return {**HOST, "Cookie": cookie}


@pytest.mark.parametrize("path", ["/ui/", "/ui/memories?q=a&open=b&any=thing", "/ui/graph", "/ui/nothing"])
def test_every_path_of_a_page_gives_the_page_to_whom_is_let_in_and_one_sentence_to_others(path: str) -> None:
    async def scenario() -> None:
        async with a_client() as client:
            known, stranger = await client.get(path, only=await logged_in(client)), await client.get(path, only=HOST)
            assert (known.status, stranger.status) == (200, 401)
            assert KNOWN_ONLY_TO_PAGES in known.text
            assert "<p>Run: <code>kiro-learn ui</code></p>" in stranger.text
            for reply in (known, stranger):
                looks_like_a_page(reply)

    simulate(scenario)


def looks_like_a_page(reply: Reply) -> None:
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["content-security-policy"] == POLICY
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"


@with_client
async def test_a_code_works_once_and_leaves_no_trace_in_the_address(client: Client) -> None:
    path = (await client.post("/v1/ui/code")).json["path"]
    glance = await client.ask("HEAD", path, only=HOST)  # as a program does that previews links
    assert (glance.status, "set-cookie" in glance.headers) == (401, False)
    assert (await client.get(path, only=HOST)).headers["location"] == "/ui/"
    again = await client.get(path, only=HOST)
    assert (again.status, "set-cookie" in again.headers) == (401, False)


@with_client
async def test_a_code_is_for_the_token_alone(client: Client) -> None:
    cookie = await logged_in(client)
    assert (await client.post("/v1/ui/code", only={**cookie, "Origin": ORIGIN})).status == 401
    assert (await client.post("/v1/ui/code", only=HOST)).status == 401


@with_client
async def test_a_cookie_reads_and_writes_from_our_own_pages_alone(client: Client) -> None:
    cookie = await logged_in(client)
    write = {**cookie, "Content-Type": "application/json"}
    assert (await client.get("/v1/status", only=cookie)).status == 200
    assert (await client.get("/v1/status", only={**HOST, "Cookie": "kl_ui=1.2.3"})).status == 401
    assert (await client.post("/v1/embeddings/backfill", {}, only=write)).status == 401
    assert (await client.post("/v1/embeddings/backfill", {}, only={**write, "Origin": ORIGIN})).status == 200
    for foreign in ({"Origin": "http://127.0.0.1:3000"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"}):
        assert (await client.post("/v1/embeddings/backfill", {}, only={**write, **foreign})).status == 403
        assert (await client.get("/v1/status", only={**cookie, **foreign})).status == 403


@with_client
async def test_every_file_is_served_whole_zipped_and_only_when_it_is_new(client: Client) -> None:
    for name in sorted(names()):
        path = f"/ui/{name}"
        plain = await client.get(path, only=HOST)
        assert (plain.status, plain.text) == (200, (FOLDER / name).read_text("utf-8")), name
        assert plain.headers["content-security-policy"] == POLICY
        assert plain.headers["cache-control"] == "no-cache"
        tag = plain.headers["etag"]
        assert (await client.get(path, only={**HOST, "If-None-Match": tag})).status == 304
        assert (await client.get(path, only={**HOST, "If-None-Match": '"other"'})).status == 200


@with_client
async def test_what_is_zipped_is_the_same(client: Client) -> None:
    test_client = client.app.test_client()
    reply = await test_client.get("/ui/app.css", headers={**HOST, "Accept-Encoding": "br, gzip"})
    body = await reply.get_data(as_text=False)
    assert reply.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == (FOLDER / "app.css").read_bytes()
    assert reply.headers["ETag"] != (await client.get("/ui/app.css", only=HOST)).headers["etag"]


@pytest.mark.parametrize(
    "path", ["/ui/lib/nothing.js", "/ui/vendor/preact.LICENSE", "/ui/vendor/VENDOR.md", "/ui/lib/%2e%2e%2fapp.js"]
)
def test_nothing_else_is_served(path: str) -> None:
    async def scenario() -> None:
        async with a_client() as client:
            assert (await client.get(path, only=HOST)).status == 404

    simulate(scenario)


@with_client
async def test_the_json_of_a_page_is_what_its_route_says(client: Client) -> None:
    async def leads_to(path: str) -> str:
        reply = await client.get(path)
        assert reply.status == 307
        return reply.headers["location"]

    assert await leads_to("/ui/memories.json?limit=5&open=&other=1") == "/v1/memories?limit=5"
    assert await leads_to("/ui/memories.json?open=a%2Fb") == "/v1/memories/a%2Fb"
    assert await leads_to("/ui/memories.json?q=a+b&type=decision") == "/v1/search?type=decision&query=a+b"
    assert (
        await leads_to("/ui/sessions.json?session=s&project=p&of=%2Fn%2F") == "/api/session?session=s&project=%2Fn%2F"
    )
    assert await leads_to("/ui/brief.json") == "/v1/stats"
    assert await leads_to("/ui/projects.json") == "/v1/stats?sizes=true"
    assert (await client.get("/ui/nothing.json")).status == 404
    assert (await client.get("/ui/memories.json", only=HOST)).status == 401


@with_client
async def test_the_json_of_a_page_is_of_its_project(client: Client) -> None:
    await client.post("/v1/events", write_event(an_event(1)))
    reply = await client.get(f"/ui/retrievals.json?project={NAMESPACE.split('/')[4][:12]}")
    assert reply.headers["location"] == f"/v1/retrievals?namespace={quote(NAMESPACE, safe='')}"


def test_every_page_has_its_json() -> None:
    pages = {path.stem for path in (FOLDER / "pages").glob("*.js") if "export default" in path.read_text("utf-8")}
    assert pages <= PAGES.keys()
