from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.markdown import Block, BlockKind, blocks_of, plain

ANSWER = """\
## Root cause ##

The **pool** is *never* closed,
so it leaks.

---
1. Close it in `__exit__`
   and in `stop()`
- **Test** it

| File | Change |
|------|--------|
| `a.py` | new |

```bash
$ pytest   -q
```
"""


def test_an_answer_falls_into_blocks() -> None:
    assert [(block.kind, block.text) for block in blocks_of(ANSWER)] == [
        (BlockKind.HEADING, "Root cause"),
        (BlockKind.TEXT, "The pool is never closed, so it leaks."),
        (BlockKind.BULLET, "Close it in `__exit__` and in `stop()`"),
        (BlockKind.BULLET, "Test it"),
        (BlockKind.ROW, "File | Change"),
        (BlockKind.ROW, "`a.py` | new"),
        (BlockKind.CODE, "$ pytest -q"),
    ]


@pytest.mark.parametrize("line", ["\u2501" * 20, "\u2500\u2500\u2500", "\U0001f389", "}", "(", "---", "***"])
def test_a_line_without_words_is_no_block(line: str) -> None:
    assert blocks_of(f"{line}\n\n```\n{line}\n```") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<sub>fresh <b>context</b></sub>", "fresh context"),
        ("one<br/>two<BR>three", "one two three"),
        ("wrap it in `<sub>` and `</sub>`", "wrap it in `<sub>` and `</sub>`"),
        ("the <Button> and <user-id> stay", "the <Button> and <user-id> stay"),
    ],
)
def test_tags_of_style_are_left_out_and_names_in_brackets_stay(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_a_block_knows_its_heading_and_its_line() -> None:
    heading, *_, code = blocks_of(ANSWER)
    assert heading.line == "Root cause:"
    assert code.heading == "Root cause"
    assert Block(BlockKind.BULLET, "x", marker="2.").line == "2. x"


def test_a_line_in_bold_is_a_heading() -> None:
    (block,) = blocks_of("**What changed:**")
    assert (block.kind, block.text) == (BlockKind.HEADING, "What changed:")


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("**bold** and *italic*", "bold and italic"),
        ("keep `**code**`", "keep `code`"),
        ("2 * 3 * 4 and a_b_c __init__", "2 * 3 * 4 and a_b_c __init__"),
        ("see [the docs](https://example.org/x)", "see the docs (https://example.org/x)"),
        ("[here](#anchor)", "here"),
    ],
)
def test_emphasis_goes_and_words_stay(marked: str, expected: str) -> None:
    assert plain(marked) == expected


def test_a_drawing_is_code_and_blank_code_is_nothing() -> None:
    drawing, code = blocks_of("a.py \u2500\u2500> b.py\n```\n\nx\n```")
    assert (drawing.kind, code.text) == (BlockKind.CODE, "x")


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    assert [block.kind for block in blocks_of("```\na\n# b")] == [BlockKind.CODE, BlockKind.CODE]
