"""Exports of one daemon, and their import into another one."""

from __future__ import annotations

import json

import pytest

from kiro_learn.errors import InvalidRequest
from kiro_learn.model.namespace import project_id_in
from kiro_learn.model.stored import KINDS
from kiro_learn.services.export import Taken
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, a_record, an_event
from tests.unit.services.in_daemon import in_daemon


async def lines_of(services: Services, *kinds: str) -> list[bytes]:
    stream = await services.export.lines(kinds or KINDS)
    text = b"".join([piece async for piece in stream])
    await stream.aclose()
    return text.split(b"\n")[:-1]


def kinds_in(lines: list[bytes]) -> list[str]:
    return [next(iter(json.loads(line))) for line in lines]


def test_an_export_is_taken_by_an_empty_daemon_which_then_has_the_same() -> None:
    exported: list[bytes] = []

    async def give(services: Services) -> None:
        await services.capture.take(an_event(1))
        await services.learn.flush(project_id_in(NAMESPACE))
        await services.remember.put(a_record(2, "by hand"))
        await services.capture.take(an_event(3))
        exported.extend(await lines_of(services))
        kinds = ["kiro_learn_export", "project", "event", "event", "memory", "memory", "end"]
        assert kinds_in(exported) == kinds

    async def take(services: Services) -> None:
        taken = await services.export.take(exported)
        counts = {"project": {"stored": 1}, "event": {"stored": 2}, "memory": {"stored": 2}}
        assert taken == Taken(counts, ())
        assert (await lines_of(services))[1:] == exported[1:]
        learned = await services.learn.flush(project_id_in(NAMESPACE))
        assert learned.event_count == 1, "what waited there is learned here"

    in_daemon(give)
    in_daemon(take)


def test_a_daemon_knows_names_merges_and_pauses_that_it_takes_without_a_new_start() -> None:
    named = f'{{"project":{{"namespace":"{NAMESPACE}","name":"shop"}}}}'.encode()
    old = NAMESPACE.replace("/project/", "/project/old")
    lines = [
        named,
        f'{{"project":{{"namespace":"{old}"}}}}'.encode(),
        f'{{"merged":{{"source":"{old}","target":"{NAMESPACE}"}}}}'.encode(),
        f'{{"paused":{{"namespace":"{NAMESPACE}","since":"2026-01-05T00:00:00.000000Z"}}}}'.encode(),
    ]

    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1))
        taken = await services.export.take(lines)
        assert taken.errors == ()
        assert services.pauses.holds(an_event(1))
        assert [each.session_id for each in services.pauses.list()] == [None]
        assert (await services.project_names.resolve("shop")).namespace == NAMESPACE
        assert (await services.project_names.resolve(old)).namespace == NAMESPACE
        assert (await services.export.take([named])).errors == ()

    in_daemon(scenario)


def test_each_wrong_line_is_named_and_the_others_are_taken() -> None:
    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1))
        await services.capture.take(an_event(7))
        [_, event, _] = await lines_of(services, "event")
        event = event.replace(an_event(7).event_id.encode(), an_event(8).event_id.encode())
        good = (await lines_of(services))[-2]
        assert b'"memory"' in good
        told = {"namespace": "a/b", "session_id": "s", "item_id": a_record(1).record_id, "prompt_number": 1}
        hostile = [
            json.dumps({"told": told}).encode(),
            b'{"memory":{"record":',
            b'{"memory":{"record":{}}}',
            b'{"sql":{"drop":"table"}}',
            b"[]",
            b"\xff\xfe",
            good.replace(b'"mr_', b'"../'),
            good.replace(NAMESPACE.encode(), b"/actor/../x/"),
            b"",
            event.replace(b'"content":"', b'"content":"\\ud800 '),
            good.replace(a_record(1).record_id.encode(), a_record(2).record_id.encode()),
        ]
        taken = await services.export.take(hostile)
        assert [each.line for each in taken.errors] == [1, 2, 3, 4, 5, 6, 7, 8]
        assert taken.counts == {"event": {"stored": 1}, "memory": {"stored": 1}}
        assert "record: record_id: is missing" in taken.errors[2].problem

    in_daemon(scenario)


def test_a_secret_that_came_into_a_line_after_the_export_is_not_stored() -> None:
    token = "gh" + "p_" + "a1B2" * 9

    async def scenario(services: Services) -> None:
        await services.capture.take(an_event(1))
        await services.remember.put(a_record(2, "by hand"))
        event, memory = (await lines_of(services, "event", "memory"))[1:3]
        edited = [
            event.replace(an_event(1).event_id.encode(), an_event(3).event_id.encode()),
            memory.replace(a_record(2).record_id.encode(), a_record(4).record_id.encode()),
        ]
        edited[0] = edited[0].replace(b'"content":"', f'"content":"{token} '.encode())
        edited[1] = edited[1].replace(b'"summary":"', f'"summary":"{token} '.encode())
        taken = await services.export.take(edited)
        assert taken == Taken({"event": {"stored": 1}, "memory": {"stored": 1}}, ())
        stored = b"\n".join(await lines_of(services))
        assert token.encode() not in stored
        assert stored.count(b"[REDACTED:") == 2

    in_daemon(scenario)


def test_what_a_later_version_wrote_is_refused_by_its_format_and_nothing_is_taken() -> None:
    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1))
        head, *lines = await lines_of(services)
        assert json.loads(head)["kiro_learn_export"]["format"] == 1
        await services.forget.forget(a_record(1).record_id)
        with pytest.raises(InvalidRequest, match="reads format 1 of an export, and this one has 2") as refused:
            await services.export.take([head.replace(b'"format":1', b'"format":2'), *lines])
        assert refused.value.hint
        assert kinds_in(await lines_of(services, "memory")) == ["kiro_learn_export", "end"]

    in_daemon(scenario)


def test_a_memory_from_wider_bounds_leaves_and_comes_back() -> None:
    """The first kiro-learn had wider limits, and its memories are kept."""

    async def scenario(services: Services) -> None:
        await services.remember.put(a_record(1))
        (line,) = (each for each in await lines_of(services) if each.startswith(b'{"memory"'))
        wide = json.loads(line)
        wide["memory"]["record"] |= {
            "title": "t" * 5_000,
            "record_id": a_record(2).record_id,
            "facts": ["f" * 900] * 60,
        }
        taken = await services.export.take([json.dumps(wide).encode()])
        assert taken == Taken({"memory": {"stored": 1}}, ())
        again = json.loads((await lines_of(services, "memory"))[-2])
        assert again == wide

    in_daemon(scenario)


def test_the_head_has_the_settings_without_what_may_be_a_secret() -> None:
    async def scenario(services: Services) -> None:
        head = json.loads((await lines_of(services))[0])["kiro_learn_export"]
        assert head["settings"]["server"]["port"] == 21100
        assert head["settings"]["llm"]["api_key_variable"] == ""

    in_daemon(scenario)
