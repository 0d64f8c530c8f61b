"""The OpenAPI document describes the requests and answers of the routes below ``/api``."""

from __future__ import annotations

from kiro_learn.config import ServerConfig
from kiro_learn.frontends.http.app import all_routes
from kiro_learn.frontends.viewer.routes import Login
from tests.unit.frontends.http.asking import Client, with_client


@with_client
async def test_every_route_below_api_and_two_others_are_in_the_document(client: Client) -> None:
    reply = await client.get("/api/openapi.json")
    assert (reply.status, reply.json["openapi"]) == (200, "3.1.0")
    described = {(method.upper(), path) for path, each in reply.json["paths"].items() for method in each}
    every = all_routes(client.services, ServerConfig(), Login(""))
    routes = {
        (route.method, route.path)
        for route in every
        if route.path.startswith(("/api/", "/v1/context", "/v1/memories/edit"))
    }
    assert described == routes


@with_client
async def test_a_body_that_takes_no_unknown_keys_says_so(client: Client) -> None:
    paths = (await client.get("/api/openapi.json")).json["paths"]
    posts = [(path, each["post"]) for path, each in paths.items() if "requestBody" in each.get("post", {})]
    for path, operation in posts:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        reply = await client.post(path, {"misspelled": 1})
        is_refused = "has no such key: misspelled" in reply.text
        assert is_refused == (schema.get("additionalProperties") is False), path
        assert {"409", "413", "500"} <= operation["responses"].keys()


@with_client
async def test_what_is_described_is_what_is_read(client: Client) -> None:
    paths = (await client.get("/api/openapi.json")).json["paths"]
    body = paths["/api/observations"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["project", "title"]
    assert body["properties"]["title"] == {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "\\S"}
    assert body["properties"]["concepts"]["items"] == {"type": "string", "minLength": 1, "maxLength": 100}
    limit = next(each for each in paths["/api/search"]["get"]["parameters"] if each["name"] == "limit")
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}
