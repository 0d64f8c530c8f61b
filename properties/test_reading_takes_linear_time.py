"""Promise: reading any text takes no more processor time than a multiple of its length.

Texts of models, agents and people are read on the event loop or in a thread, and a regular expression holds the
interpreter in both. One that takes quadratic time would stop everything.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest

from kiro_learn.errors import InvalidRequest, LlmError
from kiro_learn.learning import consolidation
from kiro_learn.learning.extraction import parsing
from kiro_learn.learning.extraction.extractive.learner import drafts_of
from kiro_learn.learning.extraction.framing import FramedBatch, cleaned, escaped, unescaped
from kiro_learn.learning.extraction.user_answers import has_failed
from kiro_learn.learning.reconciliation.judge import near_identical, parse_verdict
from kiro_learn.model.buffer import BufferSnapshot
from kiro_learn.model.checks import unchecked_evolve
from kiro_learn.model.record import MemoryRecord
from kiro_learn.privacy.scrub import redact_private, scrub_json, scrub_text
from kiro_learn.privacy.secrets import TRIGGERS
from kiro_learn.retrieval.graph.query import spans_in
from kiro_learn.retrieval.query.syntax import terms
from kiro_learn.retrieval.rendering.passages import item, one_line, paragraph, word_runs, words
from kiro_learn.retrieval.rendering.repeats import each_once
from kiro_learn.retrieval.rendering.report import render
from kiro_learn.testing.daemon import a_record
from kiro_learn.wire.acp import Conversation
from kiro_learn.wire.hooks import read_hook
from kiro_learn.wire.jsonrpc import MessageReader
from kiro_learn.wire.messages import read_event, read_json
from properties.superlinear_texts import (
    SECONDS_PER_CHARACTER,
    Found,
    few_repetitions_of,
    patterns,
    prefixes_of,
    reader_of,
    repetitions_of,
    slow_text,
)
from tests.unit.learning.histories import answer, event_id, prompt, snapshot, tool

pytestmark = pytest.mark.one_python

ANCHORED = {
    "learning.extraction.extractive.titles:_LABEL": "matched in a loop over patterns",
    "learning.extraction.extractive.titles:_OPENER": "as above",
    "learning.acts.cues:DONE": "matched in a loop over patterns",
    "model.namespace:PROJECT_NAME": "matched as a whole, by other modules",
    "learning.profile.places:_RUN": "matched as a whole with each line of a file",
    "learning.profile.places:_STEP": "as above",
}
"""Patterns that are only matched at the beginning, though a search for their uses does not find that."""

BOUNDED = {
    "adapters.histories.specstory:_SESSION": "reads the first 4 KiB of a file",
    "wire.hook_payload:_UNFINISHED": "reads the last 256 characters",
}
"""Patterns, or modules of patterns, that never get a long text."""

_ALL = patterns()

PATTERNS = [
    found
    for found in _ALL
    if found.name.partition("[")[0] not in BOUNDED and found.name.partition(":")[0] not in BOUNDED
]


def test_every_exception_is_of_a_pattern_that_there_is() -> None:
    names = {name for found in _ALL for name in (found.name.partition("[")[0], found.name.partition(":")[0])}
    assert not (ANCHORED.keys() | BOUNDED.keys()) - names


@pytest.mark.parametrize("found", PATTERNS, ids=lambda found: found.name)
def test_no_pattern_takes_the_square_of_its_text(found: Found) -> None:
    read = reader_of(found, is_anchored=found.name.partition("[")[0] in ANCHORED)
    assert not slow_text(read, repetitions_of(prefixes_of(found.pattern)))


BATCH = FramedBatch("", tuple((event_id(number),) for number in range(5)), context_count=2)

FRAGMENTS = (
    '<memory_record type="decision" events="1 2" importance="3">',
    "<title>T</title><summary>S</summary></memory_record>",
    "<facts><fact>a</fact></facts><concept>b</concept><file access='read'>a.py</file><skip/>",
    "<merge ><merged_record_id>1</merged_record_id><observation_type>error</observation_type></merge >",
    "<keep_separate ></keep_separate >",
    "<compacted_entry events='1'>a</compacted_entry >",
    "<title><![CDATA[a]]></title><![CDATA[b",
    "<think>a</think><thinking></thinking>[THINK]b[/THINK]",
    "<system-reminder>a</system-reminder><command-name>b</command-name><command-args>c</command-args>",
    '{"hook_event_name": "Stop", "tool_input": [{"a": -1.5e3, "b\\u00e9": null}]}',
    '{"jsonrpc": "2.0", "method": "session/update", "params": {"a": [1]}}\n',
    "< private >a</ private >\\u003cprivate>",
    "&lt;&amp;&quot; \x1b[31m \x1b]0;a\x07 \r\n",
    "# a\n- **b** `c d` *e* [f](g) | h |\n```\n1. i\n***\n",
    'git commit -m "a" --message=\'b\' -m "$(cat <<EOF\n',
    "We decided to use a/b.py instead of c_d, because it always fails (see e.f).",
    "\n\n  \t .,;:`` ** -- __ '' \" == // \\\\ !! ?? @@",
)


def _answer(parse: Callable[[str], object]) -> Callable[[str], None]:
    def read(text: str) -> None:
        with contextlib.suppress(LlmError, InvalidRequest):
            parse(text)

    return read


def _turn_of(text: str) -> BufferSnapshot:
    """A turn in which every text is ``text``."""
    return snapshot([prompt(1, text), tool(2, "bash", text, text), answer(3, text)])


def _record_of(text: str) -> MemoryRecord:
    return unchecked_evolve(a_record(1), title=text[:200], summary=text[:4000], facts=(text[:500],) * 30)


def _rendered(text: str) -> object:
    """Render as many records as have room in an answer, for ``text`` as the prompt."""
    return render(each_once([_record_of(text)] * 5), text, most_bytes=8_000)


def _lines(text: str) -> object:
    """Read messages in pieces, as a pipe gives them."""
    reader, conversation = MessageReader(), Conversation("a", "/", "an-agent")
    conversation.begin()
    data = text.encode()
    for start in range(0, len(data), 4_096):
        for message in reader.feed(data[start : start + 4_096]):
            conversation.hear(message)
    return conversation


def _hooks(text: str) -> object:
    headers = {"X-Hook-Event": "Stop", "X-Hook-Cwd": "%2F"}
    return [
        read_hook("kiro-cli", payload.encode(), headers)
        for payload in (
            text,
            json.dumps({"tool_name": text}),
            '{"hook_event_name": "PostToolUse", "tool_input": ' + text,
        )
    ]


READERS: dict[str, tuple[Callable[[str], object], float]] = {
    "answer of the learner": (_answer(lambda text: parsing.parse(text, BATCH)), 1),
    "answer of the judge": (_answer(parse_verdict), 1),
    "answer of the compactor": (_answer(consolidation.parse), 1),
    "the built-in learner": (lambda text: drafts_of(_turn_of(text)), 20),
    "the rule without a model": (lambda text: near_identical([_record_of(text)] * 3), 1),
    "markup": (lambda text: (cleaned(text), escaped(text), unescaped(text)), 1),
    "private spans": (redact_private, 1),
    "how a tool ended": (lambda text: has_failed("bash", {"result": [text], "exit_code": text}, text), 5),
    "secrets in text": (scrub_text, 10),
    "secrets in JSON": (lambda text: scrub_json({text: [text], "password": text}), 20),
    "hooks": (_hooks, 2),
    "lines of an agent": (_lines, 10),
    "JSON of a client": (_answer(lambda text: read_event(read_json(text))), 1),
    "a prompt's words": (lambda text: (terms(text), word_runs(text), words(text)), 3),
    "the names in a prompt": (spans_in, 3),
    "stored text": (lambda text: (item(text), one_line(text), paragraph(text)), 3),
    "the block of memories": (_rendered, 3),
}
"""All ways of foreign texts into the daemon, and how many times as long as one pattern each may take."""


@pytest.mark.parametrize("name", READERS)
def test_no_reader_takes_the_square_of_its_text(name: str) -> None:
    read, times = READERS[name]
    prefixes = [fragment[:count] for fragment in FRAGMENTS for count in range(1, len(fragment) + 1, 2)]
    families = few_repetitions_of([*prefixes, *FRAGMENTS, *TRIGGERS, *(f"{trigger}='" for trigger in TRIGGERS)])
    assert not slow_text(read, families, multiple=times * SECONDS_PER_CHARACTER)
