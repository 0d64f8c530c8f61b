"""Any malformed request is refused with an explanation, and harms no other request."""

from __future__ import annotations

import pytest

from tests.integration.http.bad_requests import BAD_REQUESTS, NOTHING, BadRequest
from tests.integration.http.serving import in_real_time, serving_all


@pytest.mark.parametrize("bad", BAD_REQUESTS, ids=lambda bad: bad.name)
@in_real_time
async def test_a_bad_request_is_refused_as_the_table_says(bad: BadRequest) -> None:
    async with serving_all() as (server, services):
        async with server.connection() as peer:
            lines = [line.replace("{port}", str(server.port)) for line in bad.lines]
            await peer.send(*lines, body=bad.body, known=bad.known)
            reply = await peer.reply()
        error = reply.json["error"] if reply.body else NOTHING
        assert (reply.status, error) == (bad.status, bad.error)
        assert "traceback" not in reply.body.decode().lower()
        async with server.connection() as peer:
            assert (await peer.ask("GET /healthz HTTP/1.1")).status == 200
        assert (await services.queries.events(namespace=None, limit=1, cursor=None)).total == 0
