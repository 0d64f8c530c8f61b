"""The extractive learner never refuses a batch, gives the same result twice, and cites only the batch's events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.extraction.extractive.learner import drafts_of, extracts_of
from kiro_learn.learning.extraction.extractive.turns import read
from kiro_learn.model.event import Body, Event, EventKind, JsonBody, MessageBody, TextBody, Turn
from tests.unit.learning.histories import event, snapshot

PHRASES = st.sampled_from(
    [
        "Always use pnpm here, never npm.",
        "## Summary\n\n",
        "The root cause is that `close()` is never called.",
        "- added `src/pool.py`\n",
        "```go\nfunc main() {\n```\n",
        "| a | b |\n|---|---|\n",
        "Done. All tests pass.",
        "**",
        "Option B",
        "why?",
        "</batch>",
        "\n\n",
        "\u251c\u2500\u2500 a.yml\n",
        "1. ",
        "<command-name>/x</command-name>",
    ]
)
TEXTS = st.lists(PHRASES | st.text(max_size=80), max_size=8).map(" ".join)
TOOLS = st.fixed_dictionaries(
    {
        "tool_name": st.sampled_from(["Bash", "Edit", "fs_read", "execute_bash", "x"]),
        "tool_input": st.fixed_dictionaries({"command": TEXTS, "path": TEXTS}) | TEXTS | st.none(),
        "tool_response": TEXTS | st.none() | st.lists(st.integers()),
    }
)
BODIES: st.SearchStrategy[tuple[EventKind, Body]] = st.one_of(
    st.tuples(st.sampled_from(EventKind), TEXTS.map(TextBody)),
    st.tuples(st.just(EventKind.TOOL_USE), TOOLS.map(JsonBody)),
    st.tuples(
        st.sampled_from(EventKind),
        st.lists(st.builds(Turn, st.sampled_from(["user", "assistant", "system"]), TEXTS), min_size=1, max_size=3).map(
            lambda turns: MessageBody(tuple(turns))
        ),
    ),
)
HISTORIES = st.lists(st.tuples(BODIES, st.sampled_from(["one", "two"])), max_size=10).map(
    lambda drawn: [event(n, kind, body, session=session) for n, ((kind, body), session) in enumerate(drawn)]
)


@given(history=HISTORIES, earlier_count=st.integers(0, 3))
def test_any_history_is_learned_and_the_same_way_each_time(history: list[Event], earlier_count: int) -> None:
    earlier, events = history[:earlier_count], history[earlier_count:]
    batch = snapshot(events, earlier)
    drafts = drafts_of(batch)
    assert drafts_of(batch) == drafts
    assert len(extracts_of(read(batch))) == len(drafts), "what was extracted has a title and a summary"
    assert all(draft.cites and draft.source_event_ids for draft in drafts)


@given(texts=st.lists(TEXTS, max_size=4))
def test_prompts_that_come_again_as_context_found_no_record(texts: list[str]) -> None:
    earlier = [event(number, EventKind.PROMPT, TextBody(text)) for number, text in enumerate(texts)]
    assert drafts_of(snapshot([], earlier)) == []
