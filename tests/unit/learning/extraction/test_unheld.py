from __future__ import annotations

import pytest
from attrs import evolve

from kiro_learn.learning.extraction.unheld import MOST_QUOTED, MOST_QUOTED_OF_THIN, with_unheld_terms
from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.event import Event
from kiro_learn.model.ids import EventId
from kiro_learn.model.record import MAX_FACT, MAX_FACTS, KnowledgeType, ObservationType, Origin
from tests.unit.learning.histories import answer, event_id, prompt, snapshot, tool

ASKED = prompt(1, "why do we run out of sockets?")
ANSWERED = answer(
    2,
    "The pool leaks.\n\n`Pool.close()` is never called in `src/pool.py`.\n\nThe limit is 512 sockets in version 3.2.1.",
)


def draft(*numbers: int, title: str = "The pool leaked", facts: tuple[str, ...] = ()) -> RecordDraft:
    cited: tuple[EventId, ...] = tuple(map(event_id, numbers))
    return RecordDraft(
        title=title,
        summary=title,
        observation_type=ObservationType.ERROR,
        source_event_ids=cited,
        cites=True,
        facts=facts,
    )


def checked(events: list[Event], *drafts: RecordDraft) -> list[RecordDraft]:
    return with_unheld_terms(drafts, snapshot(events))


def test_a_name_a_path_a_number_and_a_version_that_no_record_holds_are_quoted() -> None:
    (found,) = checked([ASKED, ANSWERED], draft(1, 2))
    assert found.facts == (
        "why do we run out of sockets?",
        "`Pool.close()` is never called in `src/pool.py`.",
        "The limit is 512 sockets in version 3.2.1.",
    )


def test_what_a_record_holds_is_not_said_again() -> None:
    held = ("Nothing ever called Pool.close in src/pool.py", "We run out: the limit in version 3.2.1 is 512 sockets")
    (found,) = checked([ASKED, ANSWERED], draft(1, 2, facts=held))
    assert found.facts == held


def test_a_second_record_of_the_turn_may_hold_it() -> None:
    drafts = (
        draft(1, facts=("Pool.close is never called: src/pool.py",)),
        draft(2, facts=("Run out of 512 sockets, the limit of version 3.2.1",)),
    )
    assert checked([ASKED, ANSWERED], *drafts) == list(drafts)


def test_another_turns_record_does_not_hold_it() -> None:
    other = [prompt(3, "and the tests?", session="two"), answer(4, "They are in `tests/unit`.", session="two")]
    first, second = checked([ASKED, ANSWERED, *other], draft(1, 2), draft(4, title="512 of 3.2.1 in src/pool.py"))
    assert "The limit is 512 sockets in version 3.2.1." in first.facts
    assert second.facts == ("They are in `tests/unit`.",)


def test_what_a_person_denied_is_quoted_where_the_record_denies_nothing() -> None:
    said = prompt(1, "the dialog should not close on its own when saving fails")
    (found,) = checked([said, answer(2, "The dialog stays open now when saving fails.")], draft(1, 2, title="Dialog"))
    assert found.facts == ("the dialog should not close on its own when saving fails",)


def test_an_answer_in_the_words_of_a_replacement_is_quoted_as_none() -> None:
    told = answer(2, 'The pool is closed now.\n\n- Replaces "Never push to v12 by hand"')
    (found,) = checked([prompt(1, "close the pool"), told], draft(1, 2, title="The pool is closed now"))
    assert found.facts == ("Replaces \u201cNever push to v12 by hand\u201d",)


def test_what_a_person_answered_to_a_tool_is_quoted() -> None:
    asked = tool(2, "ask_user", {"question": "Which database?", "options": ["SQLite3", "Postgres"]}, "SQLite3")
    told = draft(1, 3, title="The schema is there now")
    (found,) = checked([prompt(1, "go on"), asked, answer(3, "The schema is there.")], told)
    assert found.facts == ("Which database \u2192 SQLite3; not: Postgres",)


def test_a_rule_of_a_turn_that_the_model_passed_over_is_a_record() -> None:
    (found,) = checked([prompt(1, "Always use pnpm here, never npm."), answer(2, "Understood.")])
    assert (found.title, found.origin) == ("Always use pnpm here, never npm.", Origin.USER)
    assert found.knowledge_type is KnowledgeType.CONSTRAINT


PASTED = "Secret keys. Use in servers, functions and workers, never in a browser. " + "They can be changed here. " * 12


def test_a_rule_that_a_model_passed_over_in_a_long_prompt_is_none() -> None:
    """Such a rule was mostly pasted with the rest of the prompt."""
    asked = [prompt(1, PASTED), answer(2, "Understood.")]
    assert checked(asked) == []
    assert len(checked(asked, draft(1, 2))) == 1


def test_a_rule_of_a_short_prompt_is_a_record_however_long_the_prompt_before_it() -> None:
    asked = [prompt(1, PASTED), prompt(2, "Always use pnpm here, never npm."), answer(3, "Understood.")]
    (found,) = checked(asked)
    assert found.title == "Always use pnpm here, never npm."
    assert [each.title for each in checked(asked, draft(1, 2, 3))] == ["The pool leaked", found.title]


def test_what_a_person_answered_is_a_record_though_a_long_prompt_before_it_has_a_rule() -> None:
    asked = tool(2, "ask_user", {"question": "Which database?", "options": ["SQLite3", "Postgres"]}, "SQLite3")
    (found,) = checked([prompt(1, PASTED), asked, answer(3, "Understood.")])
    assert found.title == "Which database \u2192 SQLite3; not: Postgres"


@pytest.mark.parametrize(
    "line",
    [
        "`for _, entry := range toAdd { keep(entry.v12) }`",
        "\u251c\u2500\u2500 transcript.jsonl of session_v12",
        "| Clean commits of `v12` | \u2705 |",
        "\u2a2f release v2.13.2 failed after 0s",
        "Added `t.Parallel()` to the tests of v12, since they are slow.",
        "- **Updated** `go.mod` to 1.22, because 1.21 lacks it.",
    ],
)
def test_code_output_and_what_an_agent_changed_are_not_quoted(line: str) -> None:
    told = draft(1, 2, title="Why do we run out of sockets: the pool leaks")
    (found,) = checked([ASKED, answer(2, f"The pool leaks.\n\n{line}")], told)
    assert found.facts == ()


def test_a_rule_that_the_record_of_its_turn_does_not_word_is_a_record_of_its_own() -> None:
    told, rule = checked([prompt(1, "Always use pnpm here, never npm."), answer(2, "Understood.")], draft(1, 2))
    assert (told.title, told.facts) == ("The pool leaked", ())
    assert (rule.title, rule.knowledge_type) == ("Always use pnpm here, never npm.", KnowledgeType.CONSTRAINT)


def test_each_rule_that_the_record_of_its_turn_does_not_word_is_a_record_of_its_own() -> None:
    said = prompt(1, "Never push to main. Always use pnpm here.")
    _, *rules = checked([said, answer(2, "Understood.")], draft(1, 2))
    assert [rule.title for rule in rules] == ["Never push to main.", "Always use pnpm here."]


def test_a_rule_that_the_record_of_its_turn_words_is_not_kept_twice() -> None:
    worded = draft(1, 2, title="pnpm is used here and never npm")
    (told,) = checked([prompt(1, "Always use pnpm here, never npm."), answer(2, "Understood.")], worded)
    assert told == worded


def test_a_turn_that_the_model_took_for_talk_stays_talk() -> None:
    assert checked([ASKED, ANSWERED]) == []


def test_a_long_turn_adds_a_bounded_number_of_facts() -> None:
    lines = "\n".join(
        f"- The part `module_{number}` reads the file `data/{number}.json` at start." for number in range(400)
    )
    (found,) = checked([ASKED, answer(2, lines)], draft(1, 2, facts=("one",)))
    assert len(found.facts) <= 1 + MOST_QUOTED_OF_THIN <= MAX_FACTS
    assert all(len(fact) <= MAX_FACT for fact in found.facts)


def test_a_statement_in_plain_words_is_quoted_where_the_record_says_nothing_of_it() -> None:
    said = "Saving twice in a row shows the dialog again.\n\nThe dialog waits until the disk answers."
    (found,) = checked([answer(1, said)], draft(1, title="The dialog waits for the disk"))
    assert found.facts == ("Saving twice in a row shows the dialog again.",)


TELLING = "The pool leaked since close() was never called after a timeout. " * 6


def test_what_a_telling_record_leaves_out_stays_out() -> None:
    talk = (
        "Give it a try! You're right to push back on this. The follow-up is a non-trivial to-do, e.g. for "
        "documentation/planning. Would you like me to go ahead? I spawned two agents in parallel."
    )
    (record,) = checked([prompt(1, "why does it leak?"), answer(2, talk)], evolve(draft(1, 2), summary=TELLING))
    assert record.facts == ()


def test_names_and_numbers_that_a_telling_record_lost_are_quoted_and_only_a_few() -> None:
    said = " ".join(
        f"The limit in pool_{n}.py is {n}00, because the proxy cuts at {n}{n} seconds." for n in range(1, 9)
    )
    (record,) = checked([prompt(1, "why does it leak?"), answer(2, said)], evolve(draft(1, 2), summary=TELLING))
    assert 0 < len(record.facts) <= MOST_QUOTED


def test_a_choice_that_a_telling_record_lost_is_quoted() -> None:
    chosen = "we keep the monolith until the new team is there"
    (record,) = checked([prompt(1, chosen), answer(2, "Done.")], evolve(draft(1, 2), summary=TELLING))
    assert record.facts == (chosen,)
