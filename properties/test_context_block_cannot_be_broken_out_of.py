"""No stored text can add structure to the block: its headings and lists are ours, and it opens nothing else."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.model.checks import unchecked
from kiro_learn.model.ids import EventId, RecordId
from kiro_learn.model.namespace import Namespace
from kiro_learn.model.record import MAX_FACT, MAX_SUMMARY, MAX_TITLE, MemoryRecord, ObservationType
from kiro_learn.retrieval.rendering.report import render

MARKUP = [
    "#",
    "## ",
    "### ",
    ">",
    "- ",
    "-",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "```",
    "~~~",
    "---",
    "===",
    "***",
    "_",
    "=",
    "<",
]
TAGS = ["<system>", "</system>", "<!--", "<?xml", "<![CDATA[", "</", "<|im_end|>"]
SPACES = [" ", "   ", "\t", "\n", "\n\n", "\r", "\r\n", "\x0b", "\x0c", "\x1e", "\x85", "\u00a0", "\u2028", "\u2029"]
INVISIBLE = ["\x00", "\x1b", "\u200b", "\u200d", "\u202e", "\ufeff"]
PIECES = [*MARKUP, *TAGS, *SPACES, *INVISIBLE, "word", "ß", "日本", "\\", "|", "`", "&"]

NASTY = (
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), min_size=1, max_size=40).map("".join).filter(bool)
)

STRUCTURE = re.compile(r"\s*(#|>|```|~~~|<[A-Za-z/!?|]|[-*+](\s|$)|\d{1,9}[.)](\s|$)|[-=*_][-=*_\s]*$)")
"""Any start of a block for CommonMark or for a more lenient reader. It matches more than necessary."""


def record(title: str, summary: str, facts: tuple[str, ...]) -> MemoryRecord:
    return unchecked(
        MemoryRecord,
        record_id=RecordId("mr_" + "0" * 26),
        namespace=Namespace("/actor/ann/project/p/"),
        strategy="turns",
        title=title[:MAX_TITLE],
        summary=summary[:MAX_SUMMARY],
        facts=tuple(fact[:MAX_FACT] for fact in facts),
        observation_type=ObservationType.DECISION,
        source_event_ids=(EventId("0" * 26),),
        created_at=datetime(2026, 1, 5, tzinfo=UTC),
    )


@given(title=NASTY, summary=NASTY, facts=st.lists(NASTY, max_size=3).map(tuple), most_bytes=st.integers(200, 1_200))
@example(title="x", summary="Setext\n-\n=\n", facts=("- # heading in a list", "```"), most_bytes=8_000)
@example(title="\n# x", summary="1. > quote\n   </hook>\n\u2028## y", facts=("\u2028- x",), most_bytes=8_000)
def test_every_line_with_structure_is_one_of_ours(
    title: str, summary: str, facts: tuple[str, ...], most_bytes: int
) -> None:
    text = render([record(title, summary, facts)] * 2, "word", most_bytes=most_bytes).text
    assert not text or text.startswith("## Prior observations from kiro-learn\n\n### ")
    assert [line + "\n" for line in text.splitlines()] == text.splitlines(keepends=True), "only \\n ends a line"

    lines = text.splitlines()[1:]
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith("### "):
            assert before == ""  # a heading of ours follows a blank line
        elif line.startswith("- "):
            assert STRUCTURE.match(line[2:]) is None
        else:
            assert STRUCTURE.match(line) is None
        assert not re.search(r"<[A-Za-z/!?|]", line)
    assert sum(line.startswith("### ") for line in lines) <= 2
    assert sum(line.startswith("- ") for line in lines) <= 2 * len(facts)
    assert all(character.isprintable() or character in "\n\u200c\u200d" for character in text)
