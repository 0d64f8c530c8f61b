"""How many bytes of memory a prompt is worth, by its kind and by the settings."""

from __future__ import annotations

from kiro_learn.config import RecallConfig
from kiro_learn.learning.extraction.extractive.chatter import asks_nothing
from kiro_learn.pipelines.recall.recall_trace import NOTHING_ASKED, NOTHING_NEEDED
from kiro_learn.ports.session_prompts import SessionPrompt
from kiro_learn.retrieval.query.prompt_kind import GOALS, PromptKind, kind_of
from kiro_learn.retrieval.query.question import Query


def bytes_for(text: str, query: Query, prompt: SessionPrompt, config: RecallConfig) -> int:
    """At most how much is told for ``text``, whose question is ``query``; notes the goal that it sets."""
    if config.prompts == "none" or asks_nothing(query.meaning):
        return 0
    kind = kind_of(text, query.meaning, sets_goal=prompt.may_set_goal)
    if kind in GOALS:
        prompt.set_goal()
    if config.prompts == "all" or kind in {PromptKind.QUESTION, PromptKind.PAST}:
        return config.context_bytes
    return min(config.context_bytes, config.task_bytes) if kind is PromptKind.TASK else 0


def silence_of(query: Query) -> str:
    """Why nothing is told for a prompt that is worth no bytes."""
    return NOTHING_ASKED if asks_nothing(query.meaning) else NOTHING_NEEDED
