"""What sort of prompt it is, which decides how much of the memory its agent is told.

Most prompts of a session go on with what it is about: they approve, correct, paste a result, name the next step. The
agent has all that they need, and what is told then leads it astray (docs/retrieval.md, "When to speak"). So the memory
speaks where a goal is set, and where somebody asks about the past.
"""

from __future__ import annotations

import re
from enum import Enum

from kiro_learn.retrieval.query.prose_lines import asks
from kiro_learn.retrieval.query.question import MEANING_CHARACTERS
from kiro_learn.retrieval.query.terms import terms


class PromptKind(Enum):
    """What a prompt wants."""

    BARE_COMMAND = "bare command"
    """A slash command without an argument: nothing in it can be looked up."""
    QUESTION = "question"
    """It sets the goal of its session by a question."""
    TASK = "task"
    """It sets the goal by a task."""
    SELF_CONTAINED = "self-contained"
    """It sets the goal by a task and brings what that needs: a plan that was made with what is known, or a log."""
    AT_HAND = "at hand"
    """It sets the goal by what lies in the work tree, in a review or on the screen."""
    PAST = "past"
    """It asks, anywhere in a session, what was decided, done or found before."""
    STEP = "step"
    """It goes on with what the session is about."""


GOALS = frozenset({PromptKind.QUESTION, PromptKind.TASK, PromptKind.SELF_CONTAINED, PromptKind.AT_HAND})
"""The kinds that set the goal of a session."""

BROUGHT_CHARACTERS = 1_000
"""Beside the question of a task, from which on it brings what it needs."""

_PAST = re.compile(
    r"\b(?:"
    r"remind me|tell me again|do you (?:remember|recall)|as (?:we )?discussed|(?:like|as) last time|again how"
    r"|last (?:time|session|week|month)|yesterday|(?:earlier|previous) (?:session|conversation|chat)"
    r"|(?:did|have|had) we (?:ever |already |not )?(?:agree|decid|discuss|do|done|fix|have|rul|see|solv|tr[iy]|us)\w*"
    r"|(?:why|how|what|when|where|which \w+) (?:did|had|have) we"
    r"|(?:why|how|what|when|where|which \w+) did i (?:\w+ )?(?:call|choos|decid|do|name|put|sa[iy]|set|us)\w*"
    r"|we (?:agreed|decided|discussed|talked about|ruled out)"
    r")\b",
    re.IGNORECASE,
)
_PAST_CHARACTERS = 600
"""Of a prompt that is looked at for the past: a longer one is a paste, or says itself what was."""

_BARE_COMMAND = re.compile(r"/[\w:.-]+\s*")

_REQUEST = re.compile(
    r"(?:^|[.?!,;:\n\"`)]|\bbut\b)[\s\W]{0,3}(?:(?:hey|hi|ok|so|and|please|pls)[\s,]{1,3}){0,3}"
    r"(?:(?:can|could|would|will) you|could we|can we (?=(?:add|also|change|fix|just|move|please|remove|rename)\b))\b"
    r"(?! (?:please )?(?:tell|explain|describe|say)\b)",
    re.IGNORECASE,
)

_AT_HAND = re.compile(
    r"\breview\b[^.?!]{0,40}\b(?:changes|diff|branch|pr|commit|pull request)\b"
    r"|\b(?:create|switch to|check ?out|start)\b[^.?!]{0,20}\bbranch\b"
    r"|\b(?:feedback|comments?)\b[^.?!]{0,30}\b(?:pr|pull request|branch|review|coderabbit)\b",
    re.IGNORECASE,
)


_POINTS = re.compile(r"\b(?:this|that|these|those|it|here)\b", re.IGNORECASE)


def kind_of(prompt: str, question: str, *, sets_goal: bool) -> PromptKind:
    """The kind of ``prompt``, in which ``question`` is what was typed, without what was pasted beside it.

    Args:
      sets_goal: no earlier prompt of its session, or of this sitting, did.
    """
    if _BARE_COMMAND.fullmatch(prompt.strip()):
        return PromptKind.BARE_COMMAND
    if len(question) <= _PAST_CHARACTERS and _PAST.search(question):
        return PromptKind.PAST
    if not sets_goal:
        return PromptKind.STEP
    if _AT_HAND.search(question) or _only_points(question):
        return PromptKind.AT_HAND
    if _asks_to_know(question):
        return PromptKind.QUESTION
    return PromptKind.SELF_CONTAINED if _brought_characters(prompt, question) >= BROUGHT_CHARACTERS else PromptKind.TASK


def _only_points(question: str) -> bool:
    """It names nothing but "this": "how do I fix this?"."""
    return len(terms(question)) <= 1 and _POINTS.search(question) is not None


def _brought_characters(prompt: str, question: str) -> int:
    return len(prompt) - min(len(question), MEANING_CHARACTERS)


def _asks_to_know(question: str) -> bool:
    """It ends with a question, and asks for no work: "can you mend it? Or is it too late?" is a task."""
    return asks(question) and not _REQUEST.search(question)
