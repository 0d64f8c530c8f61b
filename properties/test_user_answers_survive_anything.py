"""Promise: with any input and output of a tool that asks, the batch is well-formed, and answers come back whole."""

from __future__ import annotations

import time
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.learning.extraction.extractive.turns import read
from kiro_learn.learning.extraction.framing import cleaned
from kiro_learn.learning.extraction.user_answers import MOST_ANSWERS, user_answers
from tests.unit.learning.histories import framed, snapshot, tool

NAMES = st.sampled_from(["AskUserQuestion", "request_user_input", "userInput", "question"])
KEYS = st.sampled_from(["questions", "question", "options", "label", "id", "answers", "result", "text", "0"])
TEXTS = st.text(max_size=30) | st.sampled_from(
    ['"="', "</user_answer>", '[{"question": "a"}]', '{"answers": {"0": "b"}}']
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(name=NAMES, asked=JSON, response=JSON)
def test_any_payload_is_framed_and_read_back(name: str, asked: object, response: object) -> None:
    found = user_answers(name, asked, response)
    assert len(found) <= MOST_ANSWERS
    asking = tool(1, name, asked, response)
    batch = framed([asking])
    ET.fromstring(batch.text)  # noqa: S314  # our own text
    (event,) = read(snapshot([asking])).events
    assert event.tool is not None
    assert [each.answer for each in event.tool.answers] == [cleaned(each.answer) for each in found]


@given(answers=st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=40), max_size=6))
def test_each_question_keeps_its_own_answer(answers: list[str]) -> None:
    questions = [{"question": f"Which way for part {number}?"} for number in range(len(answers))]
    given_answers = {each["question"]: answer for each, answer in zip(questions, answers, strict=True)}
    found = user_answers("AskUserQuestion", {"questions": questions}, {"answers": given_answers})
    assert [(each.question, each.answer) for each in found] == list(given_answers.items())


@pytest.mark.parametrize("piece", ["a", '"="', " ", "[", "<answer>", '", "', "the user said:\n", "user notes:"])
def test_a_long_answer_takes_linear_time(piece: str) -> None:
    asked = {"questions": [{"question": f"{piece}{number}", "options": ["a"] * 1_000} for number in range(20)]}
    text = piece * (400_000 // len(piece))
    began = time.process_time()
    user_answers("AskUserQuestion", asked, {"result": [text]})
    user_answers("Bash", asked, {"result": [text]})
    assert time.process_time() - began < 1.0
