"""The calls of the search guide, and the forms of answers that it shows."""

from __future__ import annotations

from urllib.parse import quote

import trio

from tests.unit.frontends.http.asking import Client, with_client

FIELDS = ["id", "title", "content", "type", "project", "score", "source", "signals"]
OBSERVATION = {
    "project": "my-api",
    "type": "file-write",
    "title": "Modified auth.ts",
    "content": "Added JWT validation middleware for authentication",
}


@with_client
async def test_hybrid_search_answers_as_the_guide_shows(client: Client) -> None:
    stored = (await client.post("/api/observations", OBSERVATION)).json["id"]
    await trio.sleep(10)
    reply = await client.get("/api/hybrid-search?q=authentication&project=my-api&limit=10")
    assert (reply.status, reply.json["count"], list(reply.json)) == (200, 1, ["results", "count"])
    (result,) = reply.json["results"]
    assert list(result) == FIELDS
    assert list(result["signals"]) == ["semantic", "fts5", "recency", "projectMatch"]
    assert (result["id"], result["title"], result["type"]) == (stored, "Modified auth.ts", "file-write")
    assert (result["content"], result["project"]) == (OBSERVATION["content"], "my-api")
    assert (result["source"], result["signals"]["projectMatch"]) == ("hybrid", 1.0)


@with_client
async def test_the_queries_of_the_guide_are_answered(client: Client) -> None:
    await client.post("/api/observations", OBSERVATION)
    for query, count in (
        ("authentication", 1),
        ('"JWT validation middleware"', 1),
        ("authentication AND middleware", 1),
        ("authentication OR authorization", 1),
        ("title:auth*", 1),
        ("authen*", 1),
        ("authentication NOT middleware", 0),
        ("concepts:authentication", 0),
    ):
        reply = await client.get(f"/api/search?q={quote(query)}&project=my-api&limit=10&type=file-write")
        assert (reply.status, reply.json["count"]) == (200, count), query
    assert list((await client.get("/api/search?q=jwt&project=my-api")).json["results"][0]) == FIELDS


@with_client
async def test_a_query_that_does_not_parse_says_where(client: Client) -> None:
    await client.post("/api/observations", OBSERVATION)
    reply = await client.get(f"/api/search?q={quote('jwt AND (')}&project=my-api")
    assert reply.status == 400
    assert reply.json["error"] == "the query does not parse"
    assert reply.json["details"] == [{"path": "q", "position": 9, "problem": "expected a word, found the end"}]
    lenient = await client.get(f"/api/search?q={quote('jwt AND (')}&project=my-api&lenient=true")
    assert (lenient.status, lenient.json["problem"]["position"]) == (200, 9)


@with_client
async def test_every_search_and_list_of_a_project_takes_the_same_filters(client: Client) -> None:
    known = OBSERVATION | {"session": "s-1", "concepts": ["Login"], "files_modified": ["src/auth.ts"]}
    stored = (await client.post("/api/observations", known)).json["id"]
    await client.post("/api/observations", OBSERVATION | {"title": "Modified authentication"})
    await trio.sleep(10)
    for path in (
        "search?q=authentication&",
        "hybrid-search?q=jwt&",
        "semantic-search?q=jwt&threshold=-1&",
        "observations?",
    ):
        for wanted in ("session=s-1", "concept=login", "file=auth.ts", "stale=false&file=src/auth.ts"):
            reply = (await client.get(f"/api/{path}project=my-api&{wanted}")).json
            found = reply["results"] if "results" in reply else reply["items"]
            assert [each.get("id", each.get("record_id")) for each in found] == [stored], (path, wanted)
        for unwanted in ("session=s-2", "concept=log", "file=uth.ts", "stale=true"):
            reply = (await client.get(f"/api/{path}project=my-api&{unwanted}")).json
            assert (reply["results"] if "results" in reply else reply["items"]) == [], (path, unwanted)


@with_client
async def test_semantic_search_takes_a_threshold(client: Client) -> None:
    await client.post("/api/observations", OBSERVATION)
    await trio.sleep(10)
    near = await client.get("/api/semantic-search?q=jwt+validation&project=my-api&limit=10&threshold=0.1")
    assert (near.json["count"], near.json["results"][0]["source"]) == (1, "vector")
    far = await client.get("/api/semantic-search?q=jwt+validation&project=my-api&limit=10&threshold=0.99")
    assert far.json == {"results": [], "count": 0}


@with_client
async def test_what_is_missing_or_wrong_is_named(client: Client) -> None:
    for path, error in (
        ("search?project=p", "q parameter is required"),
        ("hybrid-search?q=x", "project parameter is required"),
        ("semantic-search?q=x&project=p&threshold=high", "threshold must be a number"),
        ("search?q=x&project=p&since=yesterday", "since must be a date"),
        ("search?q=x&project=p&limit=ten", "limit must be an integer"),
        ("search?q=x&project=a/b", "validation failed"),
    ):
        reply = await client.get(f"/api/{path}")
        assert (reply.status, reply.json["error"]) == (400, error)
    for since, until in (("2026-01-05", "2026-01-06T00:00:00Z"), ("0001-01-01", "9999-12-31")):
        assert (await client.get(f"/api/search?q=x&project=/p&since={since}&until={until}")).status == 200
