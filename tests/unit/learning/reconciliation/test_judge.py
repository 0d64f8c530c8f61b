from __future__ import annotations

import pytest

from kiro_learn.errors import LlmError
from kiro_learn.learning.reconciliation.judge import JudgeBreaker, judge_prompt, parse_verdict
from kiro_learn.learning.reconciliation.plan import Cluster, KeepSeparate, Merge
from kiro_learn.model.record import ObservationType
from tests.unit.learning.reconciliation.builders import a_candidate, a_neighbor


def after_failures(count: int) -> JudgeBreaker:
    breaker = JudgeBreaker()
    for _ in range(count):
        breaker = breaker.after_failure()
    return breaker


def test_it_opens_at_the_third_failure_in_a_row() -> None:
    assert [after_failures(count).is_open for count in range(5)] == [False, False, False, True, True]


def test_a_verdict_between_failures_starts_the_count_anew() -> None:
    assert not after_failures(2).after_verdict().after_failure().is_open


def test_a_verdict_does_not_close_it_but_a_run_without_failure_does() -> None:
    opened = after_failures(3)

    assert opened.after_verdict().is_open
    assert opened.after_run(failed=False) == JudgeBreaker()


def test_a_run_with_a_failure_leaves_it_as_it_is() -> None:
    assert after_failures(2).after_run(failed=True) == after_failures(2), "two more runs like this open it"


PLENTY = 100_000
REQUEST = """\
<reconciliation_request>
  <candidate_cluster>
    <candidate record_id="mr_00000000000000000000000001">
      <title>a &lt; b &amp;&amp; c</title>
      <summary>what record 1 says</summary>
      <facts><fact>one</fact><fact>two</fact></facts>
      <concepts></concepts>
      <files><file>a.py</file></files>
      <observation_type>discovery</observation_type>
    </candidate>
  </candidate_cluster>
  <neighbor_pool>
    <neighbor record_id="mr_00000000000000000000000002" similarity="0.8712">
      <title>record 2</title>
      <summary>what record 2 says</summary>
      <facts></facts>
    </neighbor>
  </neighbor_pool>
</reconciliation_request>
"""


def test_the_request_shows_the_cluster_and_its_neighbors() -> None:
    candidate = a_candidate(1, title="a < b && c", facts=("one", "two"), files_touched=("a.py",))
    prompt = judge_prompt(Cluster.of([candidate]), [a_neighbor(2, 0.87123)], most_characters=PLENTY)

    assert prompt is not None
    assert REQUEST in prompt


def test_what_was_stored_before_a_rule_existed_is_redacted_for_the_request() -> None:
    secret = "".join(("gh", "p_", "a1B2" * 9))
    cluster = Cluster.of([a_candidate(1, title=f"use {secret}")])
    prompt = judge_prompt(cluster, [a_neighbor(2, facts=(secret,))], most_characters=PLENTY)
    assert prompt is not None
    assert secret not in prompt


def test_a_prompt_is_never_longer_than_it_may_be_and_leaves_out_whole_records() -> None:
    long = [a_candidate(number, summary="&" * 1000) for number in range(3)]
    cluster = Cluster.of([*long, a_candidate(4)])
    whole = judge_prompt(cluster, [], most_characters=PLENTY)
    assert whole is not None

    cut = judge_prompt(cluster, [], most_characters=len(whole) - 1000)

    assert cut is not None
    assert len(cut) < len(whole)
    assert [f'record_id="{member.record.record_id}"' in cut for member in cluster.members] == [True, True, False, True]


def test_where_no_two_records_fit_there_is_nothing_to_ask() -> None:
    assert judge_prompt(Cluster.of([a_candidate(1)]), [a_neighbor(2)], most_characters=1_500) is None


def test_a_merge_is_read_with_prose_around_it() -> None:
    verdict = parse_verdict(
        "Sure:\n<merge>\n<merged_record_id>mr_1</merged_record_id><merged_record_id> mr_2 </merged_record_id>"
        "<title>T &amp; t</title><summary>S</summary><facts><fact>f</fact><fact></fact></facts>"
        "<concepts><concept>c</concept></concepts><files><file>a.py</file></files>"
        "<observation_type>decision</observation_type></merge> That's it."
    )

    assert verdict == Merge(
        record_ids=("mr_1", "mr_2"),  # type: ignore[arg-type]  # as a model writes them
        title="T & t",
        summary="S",
        facts=("f",),
        concepts=("c",),
        files=("a.py",),
        observation_type=ObservationType.DECISION,
    )


@pytest.mark.parametrize(
    "answer", ["<keep_separate/>", "<keep_separate />", "I would <keep_separate></keep_separate>."]
)
def test_keeping_separate_is_read(answer: str) -> None:
    assert parse_verdict(answer) == KeepSeparate()


def test_an_answer_that_says_both_keeps_separate() -> None:
    merge = "<merge><merged_record_id>mr_1</merged_record_id><title>T</title><summary>S</summary></merge>"
    assert parse_verdict(f"{merge}\n<keep_separate/>") == KeepSeparate()


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "They look the same to me.",
        "<merge></merge>",
        "<merge><title>T</title><summary>S</summary></merge>",
        "<merge><merged_record_id>mr_1</merged_record_id><title> </title><summary>S</summary></merge>",
        "<merge><merged_record_id>mr_1</merged_record_id><title>T</title></merge>",
        "&lt;keep_separate/&gt;",
    ],
)
def test_anything_else_is_no_verdict(answer: str) -> None:
    with pytest.raises(LlmError):
        parse_verdict(answer)


def test_an_unknown_type_is_left_to_the_records() -> None:
    verdict = parse_verdict(
        "<merge><merged_record_id>mr_1</merged_record_id><title>T</title><summary>S</summary>"
        "<observation_type>gossip</observation_type></merge>"
    )
    assert isinstance(verdict, Merge)
    assert verdict.observation_type is None


def test_a_title_that_is_too_long_ends_with_a_whole_word() -> None:
    title = "sockets leak " * 30
    told = f"<merged_record_id>a</merged_record_id><title>{title}</title><summary>s</summary>"
    verdict = parse_verdict(f"<merge>{told}</merge>")
    assert isinstance(verdict, Merge)
    assert len(verdict.title) <= 200
    assert verdict.title.removesuffix("...").split()[-1] in {"sockets", "leak"}


def test_what_is_too_long_or_too_much_is_cut() -> None:
    facts = "".join(f"<fact>{number} {'f' * 600}</fact>" for number in range(60))
    verdict = parse_verdict(
        f"<merge><merged_record_id>mr_1</merged_record_id><title>{'t' * 300}</title><summary>{'s' * 5000}</summary>"
        f"<facts>{facts}</facts>"
    )
    assert isinstance(verdict, Merge)
    assert (len(verdict.title), len(verdict.summary), len(verdict.facts)) == (200, 4000, 50)
    assert {len(fact) for fact in verdict.facts} == {500}
