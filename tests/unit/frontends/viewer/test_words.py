"""The viewer's texts use words that people know, and none of our internal terms."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.unit.frontends.viewer.test_budget import own_scripts

NEVER = (
    "records?", "observations?", "entry", "entries", "namespaces?", "buffer", "payloads?", "query results?", "RAG",
    "actors?", "floor", "threshold", "extraction", "ingestion", "LLM", "strategy", "strategies", "reconciled",
    "clustered", "superseded", "queued", "spooled", "parked", "FTS", "BM25", "lexical", "vectors?", "embeddings?",
    "backfill(?:ing|ed)?", "degraded", "breaker", "please", "oops", "successfully", "sorry",
)  # fmt: skip  # a row of a table
WORD = re.compile(rf"(?<![\w.-])(?:{'|'.join(NEVER)})(?![\w-])", re.IGNORECASE)
COMMAND = re.compile(r"kiro-learn [a-z][a-z -]*")
COMMENT = re.compile(r"^\s*(?://|/?\*).*$|/\*\*.*?\*/|\s//\s.*$", re.MULTILINE)
STRING = re.compile(r"""(["'])((?:\\.|(?!\1)[^\\\n])*)\1""")
TAG = re.compile(r"<[^>]*>")
SPOKEN = re.compile(r'\b(?:aria-label|title|placeholder|label|word|busy|corner|empty)="([^"]*)"')


def quoted(script: str) -> Iterator[tuple[str, str]]:
    """The quoted texts of a script, each with its quote. In a template, ``{}`` stands for each expression."""
    templates: list[str] = []
    """The text so far of each open template. ``depths`` counts braces within their expressions."""
    depths: list[int] = []
    place = 0
    while place < len(script):
        character = script[place]
        is_in_text = len(templates) > len(depths)
        if is_in_text and script.startswith("${", place):
            templates[-1] += "{}"
            depths.append(0)
            place += 1
        elif is_in_text and character == "`":
            yield character, templates.pop()
        elif is_in_text:
            templates[-1] += character
        elif character == "`":
            templates.append("")
        elif found := STRING.match(script, place):
            yield character, found[2]
            place = found.end() - 1
        elif depths and character == "}" and depths[-1] == 0:
            depths.pop()
        elif depths and character in "{}":
            depths[-1] += 1 if character == "{" else -1
        place += 1


def said(script: str) -> Iterator[str]:
    """The texts of a script that people read: templates outside of tags, labels, and whole phrases in quotes."""
    for quote, text in quoted(COMMENT.sub("", script)):
        if quote == "`":
            yield from SPOKEN.findall(text)
            yield from TAG.split(text)
        elif " " in text.strip() or text[:1].isupper():
            yield text


def faults(script: str) -> list[str]:
    return [text for text in said(script) if WORD.search(COMMAND.sub("", text))]


@pytest.mark.parametrize(
    "script",
    [
        "const a = html`<p>1 record</p>`;",
        'const a = html`<p title="The namespace">${b ? "" : "Learning is degraded"}</p>`;',
        "toast(`${count} entries are parked`);",
    ],
)
def test_a_word_of_the_inside_is_found_wherever_it_is_said(script: str) -> None:
    assert faults(script)


@pytest.mark.parametrize(
    "script",
    [
        "const a = each.records.map(({ namespace }) => html`<a class='entry' href=${namespace}>${each.record}</a>`);",
        "// a record\nconst a = '/api/observations';",
        'const a = "kiro-learn embeddings backfill";',
    ],
)
def test_a_name_an_address_and_a_command_are_no_words(script: str) -> None:
    assert faults(script) == []


def test_no_text_of_the_viewer_has_a_word_of_the_inside() -> None:
    found = {path.name: faults(path.read_text("utf-8")) for path in own_scripts()}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_its_texts_are_read_at_all() -> None:
    texts = {text.strip() for path in own_scripts() for text in said(path.read_text("utf-8"))}
    assert {"Nothing contradicts each other.", "Forget this text everywhere…", "This cannot be undone."} <= texts
    assert len(texts) > 300
