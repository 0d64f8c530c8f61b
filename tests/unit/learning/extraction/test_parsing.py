from __future__ import annotations

import time

import pytest

from kiro_learn.errors import LlmError
from kiro_learn.learning.extraction.framing import FramedBatch
from kiro_learn.learning.extraction.parsing import numbers_in, parse
from kiro_learn.learning.extraction.splitting import prompt_for
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin
from tests.unit.learning.histories import answer, event_id, framed, prompt

BATCH = framed([prompt(2, "why?"), answer(3, "because")], [prompt(1, "earlier")])


def record(inner: str = "<title>T</title><summary>S</summary>", attributes: str = 'type="decision"') -> str:
    return f"<memory_record {attributes}>{inner}</memory_record>"


def test_a_record_is_read_whole() -> None:
    (draft,) = parse(
        record(
            "<title>Use <![pnpm</title><summary>a &lt; b &amp;amp; c</summary>"
            "<facts><fact>one</fact><fact>two</fact></facts><concepts><concept>pnpm</concept></concepts>"
            '<files><file access="modified">a.py</file><file>b.py</file></files>',
            'type="decision" events="2 3" knowledge="constraint" origin="user" importance="8"',
        ),
        BATCH,
    )
    assert (draft.title, draft.summary) == ("Use <![pnpm", "a < b &amp; c")
    assert (draft.facts, draft.concepts) == (("one", "two"), ("pnpm",))
    assert (draft.files_touched, draft.files_modified, draft.files_read) == (("a.py", "b.py"), ("a.py",), ())
    assert draft.observation_type is ObservationType.DECISION
    assert (draft.knowledge_type, draft.origin, draft.importance) == (KnowledgeType.CONSTRAINT, Origin.USER, 8)
    assert (draft.source_event_ids, draft.cites) == ((event_id(2), event_id(3)), True)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("<![CDATA[Use a < b && c]]>", "Use a < b && c"),
        (" <![CDATA[ Use pnpm ]]>\n", "Use pnpm"),
        ("Use <![CDATA[List<T> &amp; ]]>&amp; <![CDATA[a]]]]><![CDATA[>b]]>", "Use List<T> &amp; & a]]>b"),
        ("<![CDATA[]]>Use pnpm", "Use pnpm"),
        ("Say &lt;![CDATA[x]]&gt; in the mapper", "Say <![CDATA[x]]> in the mapper"),
        ("<![CDATA[Use pnpm", "<![CDATA[Use pnpm"),
    ],
)
def test_a_cdata_section_says_what_stands_in_it(said: str, meant: str) -> None:
    (draft,) = parse(record(f"<title>{said}</title><summary>{said}</summary><fact>{said}</fact>"), BATCH)
    assert (draft.title, draft.summary, draft.facts) == (meant, meant, (meant,))


def test_items_may_stand_without_their_wrapper() -> None:
    (draft,) = parse(record("<title>T</title><summary>S</summary><fact>one</fact><concept>c</concept>"), BATCH)
    assert (draft.facts, draft.concepts) == (("one",), ("c",))


def test_prose_around_the_records_is_passed_over() -> None:
    assert len(parse(f"Sure! Here you go:\n```xml\n{record()}\n{record()}\n```\nAnything else?", BATCH)) == 2


@pytest.mark.parametrize("silence", ["<skip/>", "<skip>nothing new</skip>", "I would say: <skip />"])
def test_saying_that_there_is_nothing_gives_nothing(silence: str) -> None:
    assert parse(silence, BATCH) == []


def test_records_win_over_a_stray_skip() -> None:
    assert len(parse(f"<skip/>{record()}", BATCH)) == 1


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_blank_answer_is_an_error(blank: str) -> None:
    """A content filter may have removed the whole answer; that does not mean that there is nothing to keep."""
    with pytest.raises(LlmError, match="the answer is empty"):
        parse(blank, BATCH)


def test_conversation_is_an_error() -> None:
    with pytest.raises(LlmError, match="neither a record nor a skip"):
        parse("I cannot help with that.", BATCH)


@pytest.mark.parametrize(
    "bad",
    [
        record("<title> </title><summary>S</summary>"),
        record("<summary>S</summary>"),
        "<memory_record type='decision'>",
    ],
)
def test_records_that_are_all_unusable_are_an_error(bad: str) -> None:
    with pytest.raises(LlmError, match="none with a title"):
        parse(bad, BATCH)


def test_the_example_of_the_instructions_is_no_memory() -> None:
    with pytest.raises(LlmError, match="none with a title"):
        parse(prompt_for(BATCH), BATCH)


def test_what_is_left_of_the_example_beside_a_title_is_left_out() -> None:
    example = prompt_for(BATCH).partition("<title>")[2].partition("</title>")[2].partition("</memory_record>")[0]
    (draft,) = parse(record(f"<title>Use pnpm</title>{example}"), BATCH)
    assert (draft.title, draft.summary) == ("Use pnpm", "Use pnpm")
    assert (draft.facts, draft.concepts, draft.files_touched, draft.files_modified) == ((), (), (), ())


def test_an_unusable_record_does_not_cost_its_neighbours() -> None:
    assert len(parse(record("<summary>S</summary>") + record(), BATCH)) == 1


@pytest.mark.parametrize(
    ("facts", "summary"), [("", "T"), ("<facts><fact>a</fact><fact>b</fact></facts>", "a\nb"), ("<fact> </fact>", "T")]
)
def test_a_record_without_a_summary_has_its_facts_or_its_title_as_one(facts: str, summary: str) -> None:
    (draft,) = parse(record(f"<title>T</title>{facts}"), BATCH)
    assert (draft.title, draft.summary) == ("T", summary)


def test_a_long_title_is_cut_at_a_word() -> None:
    (draft,) = parse(record(f"<title>{'word ' * 60}</title><summary>S</summary>"), BATCH)
    assert draft.title.endswith(" word...")
    assert len(draft.title) <= 200


@pytest.mark.parametrize(
    ("attributes", "knowledge"),
    [('type="constraint"', "constraint"), ('type="rejected"', "rejected"), ('type="decision"', None)],
)
def test_knowledge_that_stands_where_the_type_does_is_taken(attributes: str, knowledge: str | None) -> None:
    (draft,) = parse(record(attributes=attributes), BATCH)
    assert (draft.knowledge_type, draft.observation_type) == (knowledge, "decision")


def test_a_record_that_never_closes_ends_where_the_next_opens() -> None:
    unclosed = '<memory_record type="error"><title>A</title><summary>S</summary><fact>f</fact>'
    first, second = parse(unclosed + record(), BATCH)
    assert (first.title, second.title) == ("A", "T")
    assert second.facts == ()


def test_citing_nothing_cites_the_batch_but_not_what_came_before() -> None:
    (draft,) = parse(record(), BATCH)
    assert (draft.source_event_ids, draft.cites) == (BATCH.batch_event_ids, False)


@pytest.mark.parametrize("numbers", ["0", "99", "-", "1e9", "99999999999999999999"])
def test_numbers_that_name_no_event_are_no_citation(numbers: str) -> None:
    (draft,) = parse(record(attributes=f'type="error" events="{numbers}"'), FramedBatch("", ((event_id(5),),)))
    assert draft.source_event_ids == (event_id(5),)


def test_an_earlier_prompt_may_be_cited_and_repeats_count_once() -> None:
    (draft,) = parse(record(attributes='type="error" events="3, 1 3"'), BATCH)
    assert draft.source_event_ids == (event_id(1), event_id(3))


def test_what_is_too_long_is_cut_and_what_is_too_many_left_out() -> None:
    facts = "".join(f"<fact>{n}{'f' * 600}</fact>" for n in range(60))
    (draft,) = parse(record(f"<title>{'t' * 300}</title><summary>{'s' * 5000}</summary>{facts}"), BATCH)
    assert (len(draft.title), len(draft.summary), len(draft.facts), len(draft.facts[0])) == (200, 4000, 50, 500)


def test_a_title_is_one_line() -> None:
    (draft,) = parse(record("<title>two\n lines</title><summary>S</summary>"), BATCH)
    assert draft.title == "two lines"


@pytest.mark.parametrize("importance", ["0", "11", "high", ""])
def test_an_importance_out_of_range_is_none(importance: str) -> None:
    (draft,) = parse(record(attributes=f'type="error" importance="{importance}" knowledge="gossip" origin="me"'), BATCH)
    assert (draft.importance, draft.knowledge_type, draft.origin) == (None, None, None)


def test_characters_no_database_keeps_are_replaced() -> None:
    (draft,) = parse(record("<title>a\ud800b</title><summary>c\x00d</summary>"), BATCH)
    assert (draft.title, draft.summary) == ("a\ufffdb", "c\ufffdd")


@pytest.mark.parametrize("piece", ["<memory_record ", "<memory_record type=a", "a", "<title>", "</title "])
def test_nonsense_is_read_in_time_that_grows_with_its_length_only(piece: str) -> None:
    """A parser that searches the whole rest for the end of each opening takes minutes for a megabyte."""
    started = time.process_time()
    with pytest.raises(LlmError):
        parse(f"<memory_record {piece * (500_000 // len(piece))}", BATCH)
    with pytest.raises(LlmError):
        parse(record(piece * (500_000 // len(piece))), BATCH)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ('type="Decision"', ObservationType.DECISION),
        ('type="decision | error"', ObservationType.DECISION),
        ('type="bug"', ObservationType.ERROR),
        ('type="gossip"', ObservationType.DISCOVERY),
        ('type="rule" knowledge="Constraint"', ObservationType.DECISION),
        ('knowledge="heuristic"', ObservationType.PATTERN),
        ("", ObservationType.DISCOVERY),
    ],
)
def test_a_type_of_the_models_own_costs_no_record(attributes: str, kind: ObservationType) -> None:
    (draft,) = parse(record(attributes=attributes), BATCH)
    assert draft.observation_type is kind


def test_attributes_are_read_in_any_case_and_an_importance_out_of_ten() -> None:
    (draft,) = parse(record(attributes='type="error" knowledge="Constraint" origin="User" importance="8/10"'), BATCH)
    assert (draft.knowledge_type, draft.origin, draft.importance) == (KnowledgeType.CONSTRAINT, Origin.USER, 8)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1-4", {1, 2, 3, 4}),
        ("1, 3-5", {1, 3, 4, 5}),
        ("7-2", {2, 7}),
        ("1-99999999", {1, 99_999_999}),
        ("2 to 4", {2, 3, 4}),
    ],
)
def test_a_range_names_all_its_events(text: str, numbers: set[int]) -> None:
    assert numbers_in(text) == numbers
