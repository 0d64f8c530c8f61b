"""Messages come out as they went in, in any chunks; and no bytes can break the reader."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.wire.acp import Conversation
from kiro_learn.wire.jsonrpc import (
    Failure,
    Message,
    MessageReader,
    Notification,
    Overlong,
    Request,
    Result,
    decode,
    encode,
)

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
IDS = st.integers() | TEXTS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(Request, IDS, TEXTS, JSON),
    st.builds(Notification, TEXTS, JSON),
    st.builds(Result, IDS, JSON),
    st.builds(Failure, st.none() | IDS, st.integers(), TEXTS, JSON),
)
NOISE = st.sampled_from([b"Welcome!\n", b"\n", b"\r\n", b"{}\n", b"[1]\n", b"\xff\xfe\n", b'{"jsonrpc":"1.0"}\n'])

CHUNK = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}'
)
AGENT_SAYS = st.sampled_from(
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}\n',
        b'{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}\n',
        b'{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}\n',
        b'{"jsonrpc":"2.0","id":3,"error":{"code":"x"}}\n',
        b'{"jsonrpc":"2.0","id":null,"result":7}\n',
        b'{"jsonrpc":"2.0","id":true,"method":"x"}\n',
        b'{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"options":[7,{"kind":[]}]}}\n',
        CHUNK + b"\n",
        b'{"jsonrpc":"2.0","method":"session/update","params":[{}]}\n',
        b"[" * 100_000 + b"\n",
        b"9" * 10_000 + b"\n",
    ]
)


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    """``data`` in pieces. Some may be empty."""
    ends = sorted(min(place, len(data)) for place in places)
    return [data[start:end] for start, end in zip([0, *ends], [*ends, len(data)], strict=True)]


def read(pieces: Iterable[bytes], *, most_bytes: int = 1_000_000) -> list[Message | Overlong]:
    reader = MessageReader(most_bytes=most_bytes)
    return [message for piece in pieces for message in reader.feed(piece)]


PLACES = st.lists(st.integers(0, 400), max_size=12)


@given(said=st.lists(MESSAGES | NOISE, max_size=8), places=PLACES)
def test_messages_come_out_as_they_went_in(said: list[Message | bytes], places: list[int]) -> None:
    data = b"".join(each if isinstance(each, bytes) else encode(each) for each in said)
    assert read(cut(data, places)) == [each for each in said if not isinstance(each, bytes)]


@given(message=MESSAGES)
def test_a_message_is_one_line_of_ascii(message: Message) -> None:
    line = encode(message)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert decode(line) == message


@given(data=st.binary(max_size=60) | st.lists(AGENT_SAYS, max_size=4).map(b"".join), places=PLACES)
@example(data=b"x" * 30 + b"\n" + b"x" * 20, places=[5, 25, 31, 45])
def test_any_bytes_mean_the_same_however_they_are_cut(data: bytes, places: list[int]) -> None:
    assert read(cut(data, places), most_bytes=16) == read([data], most_bytes=16)
    assert read(cut(data, places)) == read([data])


@given(said=st.lists(AGENT_SAYS | MESSAGES.map(encode), max_size=12))
def test_a_conversation_takes_whatever_an_agent_says(said: list[bytes]) -> None:
    """A conversation answers only open questions, asks each of its three questions at most once, and never raises."""
    conversation = Conversation("learn this", "/nowhere", "an-agent")
    asked = [conversation.begin().method]
    for message in read(said):
        was_over = conversation.is_over
        for reply in conversation.hear(message):
            assert not was_over
            assert decode(encode(reply)) == reply
            if isinstance(reply, Request):
                asked.append(reply.method)
            else:
                assert isinstance(message, Request)
    assert asked == ["initialize", "session/new", "session/prompt"][: len(asked)]
