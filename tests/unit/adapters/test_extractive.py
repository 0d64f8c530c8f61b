from __future__ import annotations

import pytest
import trio

from kiro_learn.adapters.extractive import ExtractiveLlm
from kiro_learn.errors import LlmError
from kiro_learn.ports.llm import Llm
from tests.unit.learning.histories import framed, prompt

PROMPT = framed([prompt(1, "Always use pnpm here, never npm.")]).text


@pytest.mark.parametrize("in_thread", [True, False])
def test_the_answer_is_the_same_in_a_thread_and_without(in_thread: bool) -> None:
    llm: Llm = ExtractiveLlm(in_thread=in_thread)
    answer = trio.run(llm.complete, PROMPT)
    assert "<title>Always use pnpm here, never npm.</title>" in answer


def test_records_carry_its_name() -> None:
    assert ExtractiveLlm().strategy == "extractive"


def test_a_prompt_without_a_batch_is_an_error() -> None:
    with pytest.raises(LlmError):
        trio.run(ExtractiveLlm().complete, "What is the weather like?")
