"""Promise: wherever a text is cut on its way in, no private text and no part of a secret is stored.

A cut takes away one end of a private span, a key or a token, and the rest looks like ordinary text. So samples are put
across every place where a text is cut, on every way in, and then the whole database is read.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import attrs
import trio
from hypothesis import event, given, settings
from hypothesis import strategies as st

from kiro_learn.learning.consolidation import parse as compacted
from kiro_learn.learning.extraction.framing import TEXT_CHARACTERS, escaped
from kiro_learn.learning.extraction.parsing import texts_of
from kiro_learn.model.record import MAX_CONCEPT, MAX_DETAIL, MAX_FACT, MAX_FILE, MAX_SUMMARY, MAX_TEXT, MAX_TITLE
from kiro_learn.privacy.scrub import scrub_text
from kiro_learn.testing.daemon import Letter, Letterbox, an_event, simulated_daemon
from kiro_learn.testing.simulation import simulate
from kiro_learn.testing.storage import InMemoryStorage
from kiro_learn.wire.hook_names import hook_names
from kiro_learn.wire.hook_payload import MAX_BYTES, MENDED_CHARACTERS, TRUNCATED, fitted
from kiro_learn.wire.messages import write_event
from tests.unit.frontends.http.asking import Client, a_record, with_client

LEAK = "Zq"
"""Text in every five characters of each secret, and nowhere else."""
SECRET = "".join(f"Zq{number}" for number in range(10, 40))
LINES = "\n".join(f"{SECRET[:60]}{number:04}" for number in range(20))
WORDS = " ".join(f"Zq{number}" for number in range(10, 60))
KEY = "-----BEGIN " + f"PRIVATE KEY-----\n{LINES}\n-----END " + "PRIVATE KEY-----"
SHIM_BYTES = 2_000_000
SHIM_VALUE_BYTES = 1_000
"""As in ``kiro_learn.client.hook``."""

SAMPLES = {
    "span": f"<private>{WORDS}</private>",
    "long span": f"<private>{WORDS * 2_000}</private>",
    "nested span": f"<private>{WORDS}<PRIVATE>{WORDS}</private>{WORDS}</ private >",
    "key block": "-----BEGIN " + f"PRIVATE KEY-----\n{LINES}\n-----END " + "PRIVATE KEY-----",
    "key block in JSON": "-----BEGIN "
    + f"PRIVATE KEY-----\n{LINES}\n-----END ".replace("\n", "\\n")
    + "PRIVATE KEY-----",
    "token": "gh" + "p_" + SECRET,
    "openai": "sk-" + "proj-" + SECRET,
    "jwt": "ey" + f"JhbGciOiJIUzI1NiJ9.ey{'J' + SECRET}.{SECRET}",
    "password": f"DB_PASSWORD={SECRET}",
    "passphrase": f'password = "{WORDS}"',
    "URL": f"postgres://app:{SECRET}@db/shop",
    "bearer": f"Authorization: Bearer {SECRET}",
    "option": f"deploy --token {SECRET}",
    "short span": f"<private>{WORDS[:40]}</private>",
    "short token": "gh" + "p_" + SECRET[:40],
    "short password": f"DB_PASSWORD={SECRET[:20]}",
}
FILLER = "the worker waits for its turn and reads on, since nothing here is to be hidden. "


def text_of(length: int, sample: str, place: int) -> str:
    """``sample`` at ``place`` in so much ordinary text, or as near to it as possible."""
    place = max(0, min(place, length - len(sample) - 2))
    rest = length - place - len(sample) - 2
    return f"{filler(place)} {sample} {filler(rest)}"


def filler(length: int) -> str:
    return (FILLER * (length // len(FILLER) + 1))[:length]


@st.composite
def crossing(draw: st.DrawFn, *cuts: int, most: int) -> tuple[str, int]:
    """A sample, and a place at which one of ``cuts`` falls into the sample or next to it."""
    name = draw(st.sampled_from([name for name, sample in SAMPLES.items() if len(sample) + 2 <= most]))
    event(name)
    sample = SAMPLES[name]
    return sample, max(0, draw(st.sampled_from(cuts)) - draw(st.integers(0, min(len(sample), 1_300) + 2)))


def stored_text(storage: InMemoryStorage) -> str:
    """The text of the whole database."""
    tables = [name for (name,) in storage.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = [row for table in tables for row in storage.connection.execute(f'SELECT * FROM "{table}"')]  # noqa: S608 - its own
    return "\n".join(str(value) for row in rows for value in row)


def assert_kept_from(storage: InMemoryStorage) -> None:
    found = stored_text(storage)
    at = found.find(LEAK)
    assert at < 0, found[max(0, at - 80) : at + 80]


# --- hooks ------------------------------------------------------------------------------------------------------------

PROMPT_HOOKS = {"gemini": "BeforeAgent", "cursor": "beforeSubmitPrompt"}
TOOL_HOOKS = {"gemini": "AfterTool", "cursor": "postToolUse"}
STOP_HOOKS = {"gemini": "AfterAgent", "cursor": "afterAgentResponse"}
LONG = 600_000


@attrs.frozen
class Payload:
    """The payload that a shim sends."""

    body: bytes
    headers: dict[str, str]


def prompt_payload(agent: str, text: str) -> dict[str, Any]:
    return {"hook_event_name": PROMPT_HOOKS.get(agent, "UserPromptSubmit"), "prompt": text}


def tool_payload(agent: str, text: str) -> dict[str, Any]:
    name = TOOL_HOOKS.get(agent, "PostToolUse")
    return {
        "hook_event_name": name,
        "tool_name": "bash",
        "tool_input": {"command": "make"},
        "tool_response": {"o": text},
    }


def stop_payload(agent: str, text: str) -> dict[str, Any]:
    return {
        "hook_event_name": STOP_HOOKS.get(agent, "Stop"),
        "assistant_response": text,
        "last_assistant_message": text,
    }


PAYLOADS = (prompt_payload, tool_payload, stop_payload)

_fitted = fitted(filler(LONG))
MIDDLE_CUTS = (_fitted.index(TRUNCATED), LONG - (len(_fitted) - _fitted.index(TRUNCATED) - len(TRUNCATED)))
"""The two places where a text of that length is cut, since its middle is left out."""


def shimmed(body: bytes, **headers: str) -> Payload:
    """The payload as the shim sends it: its beginning, and how long it was."""
    told = {f"X-Hook-{name.replace('_', '-')}": value for name, value in headers.items()}
    if len(body) > SHIM_BYTES:
        told["X-Hook-Truncated"] = str(len(body))
    return Payload(body[:SHIM_BYTES], told)


def kept_after_hook(agent: str, payload: Payload, *, by_spool: bool) -> None:
    @with_client
    async def posted(client: Client) -> None:
        reply = await client.post(f"/v1/hooks/{agent}", payload.body, headers=payload.headers)
        assert reply.status == 200, reply.text
        assert_kept_from(client.storage)

    async def spooled() -> None:
        storage = InMemoryStorage()
        letters = Letterbox([Letter(agent, {k.lower(): v for k, v in payload.headers.items()}, payload.body)])
        async with simulated_daemon(storage=storage, hook_spool=letters):
            await trio.sleep(60)
        assert not letters.letters
        assert_kept_from(storage)

    if by_spool:
        simulate(spooled)
    else:
        posted()


@settings(max_examples=25)  # a megabyte each
@given(
    agent=st.sampled_from(sorted(hook_names())),
    make=st.sampled_from(PAYLOADS),
    crossed=crossing(*MIDDLE_CUTS, most=LONG),
    by_spool=st.booleans(),
)
def test_no_cut_in_the_middle_of_what_a_hook_reports_bares_any(
    agent: str, make: Callable[[str, str], dict[str, Any]], crossed: tuple[str, int], by_spool: bool
) -> None:
    payload = make(agent, text_of(LONG, *crossed))
    kept_after_hook(agent, shimmed(json.dumps(payload).encode()), by_spool=by_spool)


@settings(max_examples=10)  # two megabytes each
@given(crossed=crossing(*MIDDLE_CUTS, most=LONG), rows=st.integers(20_000, 40_000))
def test_no_cut_through_many_small_values_bares_any(crossed: tuple[str, int], rows: int) -> None:
    sample, _ = crossed
    many: list[Any] = [f"{number} rows" for number in range(rows * 2)]
    many[crossed[1] % rows] = {"password": SECRET, "note": sample[:2_000]} if "</" not in sample else sample[:2_000]
    payload = {"hook_event_name": "PostToolUse", "tool_name": "db", "tool_response": many}
    kept_after_hook("kiro-cli", shimmed(json.dumps(payload).encode()), by_spool=False)


@settings(max_examples=10)  # two megabytes each
@given(make=st.sampled_from(PAYLOADS), crossed=crossing(MENDED_CHARACTERS, *MIDDLE_CUTS, most=2_200_000))
def test_no_cut_by_the_shim_bares_any_of_a_payload(
    make: Callable[[str, str], dict[str, Any]], crossed: tuple[str, int]
) -> None:
    """Broken JSON is read up to MENDED_CHARACTERS, where its text is cut."""
    named = make("kiro-cli", "")
    overhead = len(json.dumps(named).rpartition('"')[0])
    payload = make("kiro-cli", text_of(2_200_000, crossed[0], crossed[1] - overhead))
    kept_after_hook("kiro-cli", shimmed(json.dumps(payload).encode()), by_spool=False)


@settings(max_examples=10)  # two megabytes each
@given(crossed=crossing(SHIM_BYTES, most=2_200_000), by_spool=st.booleans())
def test_no_cut_by_the_shim_bares_any_of_plain_text(crossed: tuple[str, int], by_spool: bool) -> None:
    body = text_of(2_200_000, *crossed).encode()
    kept_after_hook("kiro-ide", shimmed(body, Event="promptSubmit"), by_spool=by_spool)


@given(crossed=crossing(SHIM_VALUE_BYTES, most=2_000))
def test_no_cut_of_a_prompt_in_a_header_bares_any(crossed: tuple[str, int]) -> None:
    value = quote(text_of(2_000, *crossed).encode()[:SHIM_VALUE_BYTES])
    kept_after_hook(
        "kiro-ide", Payload(b"{}", {"X-Hook-Event": "promptSubmit", "X-Hook-Env-User-Prompt": value}), by_spool=False
    )


@settings(max_examples=30)
@given(sample=st.sampled_from(sorted(SAMPLES)), cut=st.integers(0, 2_500), make=st.sampled_from(PAYLOADS))
def test_no_payload_that_ends_in_the_middle_bares_any(
    sample: str, cut: int, make: Callable[[str, str], dict[str, Any]]
) -> None:
    text = json.dumps(make("kiro-cli", f"so I ran it: {SAMPLES[sample][:3_000]}"))
    kept_after_hook("kiro-cli", Payload(text.encode()[: max(60, len(text) - cut)], {}), by_spool=False)


# --- records that clients hand in -------------------------------------------------------------------------------------

Handing = Callable[[Client, str], Awaitable[Any]]


def api(path: str, field: str, *, is_list: bool = False, **others: Any) -> Handing:
    async def send(client: Client, text: str) -> None:
        reply = await client.post(path, {"project": "shop", **others, field: [text] if is_list else text})
        assert reply.status == 200, reply.text

    return send


def tool(name: str, field: str, *, is_list: bool = False, **others: Any) -> Handing:
    async def send(client: Client, text: str) -> None:
        await client.post("/api/observations", {"project": "shop", "title": "An agent saves into a known project"})
        arguments = {"project": "shop", **others, field: [text] if is_list else text}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        reply = await client.post("/mcp", message, headers={"Accept": "application/json, text/event-stream"})
        assert reply.status == 200, reply.text
        assert "isError" not in reply.json["result"], reply.text

    return send


def memory(field: str, *, is_list: bool = False, imported: bool = False) -> Handing:
    async def send(client: Client, text: str) -> None:
        record = a_record(1, **{field: [text] if is_list else text})
        if imported:
            reply = await client.post("/v1/memories/import", json.dumps(record).encode(), kind="application/x-ndjson")
            assert reply.json["imported"] == 1
        else:
            assert (await client.post("/v1/memories", record)).status == 200

    return send


def edited(by: Callable[..., Handing], name: str) -> Handing:
    async def send(client: Client, text: str) -> None:
        saved = await client.post("/api/observations", {"project": "shop", "title": "t"})
        await by(name, "facts", is_list=True, id=saved.json["id"])(client, text)

    return send


async def one_event(client: Client, text: str) -> None:
    assert (await client.post("/v1/events", write_event(an_event(1, text=text)))).status == 200


async def batch(client: Client, text: str) -> None:
    lines = json.dumps(write_event(an_event(1, text=text))).encode()
    assert (await client.post("/v1/events/batch", lines, kind="application/x-ndjson")).status == 200


KNOWLEDGE: dict[str, Any] = {"knowledge_type": "decision", "title": "SQLite", "content": "One file"}
HANDED_IN: dict[str, tuple[Handing, int, tuple[int, ...]]] = {
    "text of an observation": (api("/api/observations", "text", title="t"), MAX_TEXT, (MAX_SUMMARY,)),
    "narrative": (api("/api/observations", "narrative", title="t"), MAX_SUMMARY, (MAX_SUMMARY,)),
    "title": (api("/api/observations", "title"), MAX_TITLE, (MAX_TITLE,)),
    "concept": (api("/api/observations", "concepts", title="t", is_list=True), MAX_CONCEPT, (MAX_CONCEPT,)),
    "file": (api("/api/observations", "files_read", title="t", is_list=True), MAX_FILE, (MAX_FILE,)),
    "knowledge": (
        api("/api/knowledge", "content", knowledge_type="decision", title="t"),
        MAX_TEXT,
        (MAX_SUMMARY,),
    ),
    "reason": (api("/api/knowledge", "reason", **KNOWLEDGE), MAX_DETAIL, (MAX_FACT - len("Reason: "),)),
    "alternative": (
        api("/api/knowledge", "alternatives", is_list=True, **KNOWLEDGE),
        MAX_DETAIL,
        (MAX_FACT - len("Alternatives: "),),
    ),
    "next steps": (
        api("/api/checkpoints", "next_steps", session="s", task="t"),
        MAX_DETAIL,
        (MAX_FACT - len("Next steps: "),),
    ),
    "open question": (
        api("/api/checkpoints", "open_questions", session="s", task="t", is_list=True),
        MAX_DETAIL,
        (MAX_FACT - len("Open question: "),),
    ),
    "observation by MCP": (tool("save_observation", "text", title="t"), MAX_TEXT, (MAX_SUMMARY,)),
    "knowledge by MCP": (tool("store_knowledge", "reason", **KNOWLEDGE), MAX_DETAIL, (MAX_FACT,)),
    "checkpoint by MCP": (tool("save_session_summary", "next_steps", task="t"), MAX_DETAIL, (MAX_FACT,)),
    "fact of a memory": (memory("facts", is_list=True), MAX_FACT, (MAX_FACT,)),
    "summary of a memory": (memory("summary"), MAX_SUMMARY, (MAX_SUMMARY,)),
    "fact of an import": (memory("facts", is_list=True, imported=True), MAX_FACT, (MAX_FACT,)),
    "edited fact": (edited(api, "/v1/memories/edit"), MAX_FACT, (MAX_FACT,)),
    "edited fact by MCP": (edited(tool, "edit_memory"), MAX_FACT, (MAX_FACT,)),
    "event": (one_event, MAX_BYTES, (MAX_SUMMARY, MAX_BYTES)),
    "event of a batch": (batch, MAX_BYTES, (MAX_SUMMARY, MAX_BYTES)),
}


@settings(max_examples=100)
@given(data=st.data(), name=st.sampled_from(sorted(HANDED_IN)))
def test_no_cut_of_what_is_handed_in_bares_any(data: st.DataObject, name: str) -> None:
    event(name)
    send, most, cuts = HANDED_IN[name]
    sample, place = data.draw(crossing(*cuts, most=most))

    @with_client
    async def scenario(client: Client) -> None:
        await send(client, text_of(most, sample, place))
        assert_kept_from(client.storage)

    scenario()


# --- texts that a model writes ----------------------------------------------------------------------------------------


@given(crossed=crossing(MAX_FACT, most=4_000))
def test_no_cut_of_what_a_model_words_bares_any(crossed: tuple[str, int]) -> None:
    text = text_of(4_000, *crossed)
    (fact,) = texts_of(f"<fact>{escaped(text)}</fact>", "fact", count_most=1, length_most=MAX_FACT)
    assert LEAK not in scrub_text(fact)


@given(crossed=crossing(TEXT_CHARACTERS, most=3 * TEXT_CHARACTERS))
def test_no_cut_of_what_a_model_compacts_bares_any(crossed: tuple[str, int]) -> None:
    text = text_of(3 * TEXT_CHARACTERS, *crossed)
    (entry,) = compacted(f'<compacted_entry events="1">{escaped(text)}</compacted_entry>')
    assert LEAK not in scrub_text(entry.text)
