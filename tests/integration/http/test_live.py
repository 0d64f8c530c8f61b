"""The live feed over a real connection: it begins at once, goes on, and ends when it should."""

from __future__ import annotations

import json

import trio

from kiro_learn.model.event import TextBody
from kiro_learn.services.live import MOST_LISTENERS
from kiro_learn.testing.daemon import NAMESPACE, a_record
from tests.integration.http.serving import SOON_SECONDS, Peer, in_real_time, serving_all

LIVE = "GET /v1/live HTTP/1.1"


async def read_until(peer: Peer, *words: str) -> str:
    """Read until the text has all ``words``; returns the text."""
    found = ""
    while not all(word in found for word in words):
        piece = bytes(await peer.stream.receive_some(65_536))
        assert piece, f"the server hung up after {found!r}"
        found += piece.decode()
    return found


def last_id(text: str) -> str:
    return [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: ")][-1]


@in_real_time
async def test_a_memory_is_on_its_way_as_soon_as_it_is_stored_and_a_client_goes_on_where_it_was() -> None:
    async with serving_all() as (server, services):
        async with server.connection() as peer:
            await peer.send(LIVE)
            head = await read_until(peer, "event: status", "\n\n")
            assert "content-type: text/event-stream" in head.lower()
            assert "content-length" not in head.lower()
            await services.remember.put(a_record(1))
            with trio.fail_after(SOON_SECONDS):
                text = await read_until(peer, "event: learned", "\n\n")
        data = next(line for line in text.splitlines() if line.startswith("data: "))
        assert json.loads(data.removeprefix("data: "))["title"] == "record 1"
        await services.remember.put(a_record(2))

        async with server.connection() as peer:
            await peer.send(LIVE, f"Last-Event-ID: {last_id(text)}")
            text = await read_until(peer, "event: status", "\n\n")
        assert "record 2" in text
        assert "record 1" not in text
        assert "event: gap" not in text

        async with server.connection() as peer:
            await peer.send("GET /v1/live?last_event_id=another-1 HTTP/1.1")
            assert "event: gap" in await read_until(peer, "event: status", "\n\n")


@in_real_time
async def test_an_answer_is_told_as_the_list_of_answers_shows_it() -> None:
    async with serving_all() as (server, services), server.connection() as peer:
        await peer.send(LIVE)
        await read_until(peer, "event: status", "\n\n")
        await services.recall.answer(NAMESPACE, TextBody("why does the token cache expire early"), session_id="s-1")
        text = await read_until(peer, "event: retrieval", "\n\n")
        async with server.connection() as other:
            listed = await other.ask("GET /v1/retrievals HTTP/1.1")
    told = text.partition("event: retrieval\ndata: ")[2].partition("\n")[0]
    assert json.loads(told) == listed.json["items"][0]


@in_real_time
async def test_a_client_that_hangs_up_leaves_its_place_and_one_too_many_is_refused() -> None:
    async with serving_all() as (server, services):
        async with trio.open_nursery() as nursery:
            listening = trio.Event()

            async def listen() -> None:
                async with server.connection() as peer:
                    await peer.send(LIVE)
                    await read_until(peer, "event: status")
                    if services.live.listener_count == MOST_LISTENERS:
                        listening.set()
                    await trio.sleep_forever()

            for _ in range(MOST_LISTENERS):
                nursery.start_soon(listen)
            await listening.wait()
            async with server.connection() as peer:
                reply = await peer.ask(LIVE)
            assert (reply.status, reply.json["error"]) == (503, "too many listen")
            nursery.cancel_scope.cancel()

        async with server.connection() as peer:
            with trio.fail_after(SOON_SECONDS):
                while services.live.listener_count:
                    await peer.ask("GET /healthz HTTP/1.1")


@in_real_time
async def test_a_client_that_asks_for_the_head_alone_takes_no_place() -> None:
    async with serving_all() as (server, services), server.connection() as peer:
        await peer.send("HEAD /v1/live HTTP/1.1", "Connection: close")
        head = await read_until(peer, "\r\n\r\n")
        assert head.startswith("HTTP/1.1 200")
        assert await peer.is_closed_within(SOON_SECONDS)
        assert services.live.listener_count == 0


@in_real_time
async def test_a_server_that_stops_waits_for_no_one_who_listens() -> None:
    async with serving_all() as (server, _), server.connection() as peer:
        await peer.send(LIVE)
        await read_until(peer, "event: status")
        server.shutdown.set()
        with trio.fail_after(SOON_SECONDS):
            assert (await read_until(peer, "0\r\n\r\n")).endswith("0\r\n\r\n"), "a whole answer, not a cut one"
            await server.stopped.wait()
