"""Promise: if a model only names a turn's topic, the record still has the turn's identifiers, numbers and paths."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.extraction.unheld import MOST_QUOTED, MOST_QUOTED_OF_THIN, with_unheld_terms
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import MAX_FACT, MAX_FACTS, ObservationType
from tests.unit.learning.histories import answer, event_id, prompt, snapshot

TERMS = st.sampled_from(["src/pool.py", "maxRetries", "v3.2.1", "512", "HTTP_PROXY", "user_id", "50%"])
STATEMENTS = st.lists(TERMS, min_size=1, max_size=3).map(
    lambda terms: f"The part reads {' and '.join(terms)} at start."
)
WORDINGS = st.sampled_from(["It works", "The pool", "maxRetries of src/pool.py", "512", ""])


def draft(title: str, facts: tuple[str, ...], numbers: tuple[int, ...]) -> RecordDraft:
    return RecordDraft(
        title=title or "x",
        summary=title or "x",
        observation_type=ObservationType.DISCOVERY,
        source_event_ids=tuple(map(event_id, numbers)),
        cites=True,
        facts=facts,
    )


@given(
    asked=st.lists(STATEMENTS, max_size=3),
    answered=st.lists(STATEMENTS, min_size=1, max_size=12),
    wordings=st.lists(WORDINGS, min_size=1, max_size=3),
)
def test_each_rare_term_of_a_named_turn_is_held(asked: list[str], answered: list[str], wordings: list[str]) -> None:
    batch = snapshot([prompt(1, "\n\n".join(("why is that so?", *asked))), answer(2, "\n\n".join(answered))])
    drafts = [draft(title, (), (1, 2)) for title in wordings]
    checked = with_unheld_terms(drafts, batch)
    told = "\n".join(text for each in checked for text in (each.title, each.summary, *each.facts))
    stated = {word.rstrip(".,") for text in (*asked, *answered) for word in text.split()}
    assert [word for word in stated if not word.isalpha() and word not in told] == []
    assert with_unheld_terms(checked, batch) == checked, "nothing is quoted twice"


@given(texts=st.lists(st.text(max_size=80), max_size=8), facts=st.lists(st.text(min_size=1, max_size=20), max_size=50))
def test_any_text_adds_a_bounded_number_of_facts(texts: list[str], facts: list[str]) -> None:
    batch = snapshot([prompt(1, "\n".join(texts)), answer(2, "\n".join(reversed(texts)))])
    made = draft("T", tuple(dict.fromkeys(facts)), (2,))
    (checked, *rest) = with_unheld_terms([made], batch)
    assert not rest
    assert len(checked.facts) <= max(MAX_FACTS, len(made.facts))
    assert checked.facts[: len(made.facts)] == made.facts
    assert len(checked.facts) <= len(made.facts) + (MOST_QUOTED if made.facts else MOST_QUOTED_OF_THIN)
    assert all(0 < len(fact) <= MAX_FACT for fact in checked.facts)


def test_a_full_batch_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        text = "\n".join(f"- The part `module_{number}` reads `data/{number}.json` at start." for number in range(300))
        events = [
            event
            for number in range(1, 2 * count, 2)
            for event in (prompt(number, "why?", session=str(number)), answer(number + 1, text, session=str(number)))
        ]
        batch, made = snapshot(events), [draft("T", (), (number,)) for number in range(2, 2 * count + 1, 2)]
        began = time.process_time()
        with_unheld_terms(made, batch)
        return time.process_time() - began

    seconds(1)
    assert seconds(32) < 3 * 4 * max(seconds(8), 0.05), "four times as much, and three times that for a busy machine"
