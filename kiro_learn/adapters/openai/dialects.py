"""The requests and answers of two kinds of servers: OpenAI's chat completions, and Ollama's own chat.

Ollama speaks both, but takes the size of its context only in its own, and cuts a longer prompt without an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs

ANSWER_TOKENS = 8_192
"""The tokens of a context that are kept free for the answer, with the model's thoughts."""

MOST_CHARACTERS_PER_TOKEN = 6
"""English prose has four or five, code and paths about three. A server that counts fewer tokens cut the prompt."""


@attrs.frozen(kw_only=True)
class Question:
    """One prompt for one model, with its limits."""

    model: str
    prompt: str
    temperature: float | None
    """The temperature; None for the server's default."""
    context_tokens: int
    """The most tokens of prompt and answer. Ollama reloads a model if this changes, so it never does."""


@attrs.frozen(kw_only=True)
class ServerAnswer:
    """A server's answer as we read it: its text, why it ended, and its count of tokens."""

    text: str | None
    is_whole: bool = True
    """Whether the answer is complete; False if it ended because the context was full."""
    is_filtered: bool = False
    """Whether a content filter ended the answer."""
    prompt_tokens: int | None = None
    """The tokens of the prompt as the server counted them; None if it does not say."""


@attrs.frozen
class Dialect:
    """The format of requests and answers of one kind of server."""

    path: str
    """The path that follows the server's address: ``base_url``, for Ollama without ``/v1``."""
    ask: Callable[[Question], dict[str, Any]]
    read: Callable[[bytes], ServerAnswer]


def is_cut(prompt: str, prompt_tokens: int | None) -> bool:
    """Whether a server that counted ``prompt_tokens`` cannot have read all of ``prompt``; a count of 0 says nothing."""
    return bool(prompt_tokens) and len(prompt) > MOST_CHARACTERS_PER_TOKEN * int(prompt_tokens or 0)


def _ask_openai(question: Question) -> dict[str, Any]:
    temperature = {} if question.temperature is None else {"temperature": question.temperature}
    return {"model": question.model, "messages": _messages(question), **temperature, "stream": False}


def _ask_ollama(question: Question) -> dict[str, Any]:
    temperature = {} if question.temperature is None else {"temperature": question.temperature}
    options = {"num_ctx": question.context_tokens, **temperature}
    return {"model": question.model, "messages": _messages(question), "options": options, "stream": False}


def _messages(question: Question) -> list[dict[str, str]]:
    return [{"role": "user", "content": question.prompt}]


def _read_openai(body: bytes) -> ServerAnswer:
    """The answer is the first choice."""
    value = object_in(body)
    choices = value.get("choices")
    choice = _dict(choices[0] if isinstance(choices, list) and choices else None)
    return ServerAnswer(
        text=_answer_in(_dict(choice.get("message")).get("content")),
        is_whole=choice.get("finish_reason") != "length",
        is_filtered=choice.get("finish_reason") == "content_filter",
        prompt_tokens=_count(_dict(value.get("usage")).get("prompt_tokens")),
    )


def _answer_in(content: Any) -> str | None:
    """The text of a message; of one in parts, as Mistral's models that think send it, the parts that are text."""
    if not isinstance(content, list):
        return _text(content)
    parts = [_text(part.get("text")) for part in map(_dict, content) if part.get("type") == "text"]
    return "".join(filter(None, parts)) if parts else None


def _read_ollama(body: bytes) -> ServerAnswer:
    value = object_in(body)
    return ServerAnswer(
        text=_text(_dict(value.get("message")).get("content")),
        is_whole=value.get("done_reason") != "length",
        prompt_tokens=_count(value.get("prompt_eval_count")),
    )


OPENAI = Dialect("/chat/completions", _ask_openai, _read_openai)
OLLAMA = Dialect("/api/chat", _ask_ollama, _read_ollama)


def object_in(body: bytes) -> dict[str, Any]:
    """The JSON object that ``body`` is; empty if it is none."""
    try:
        return _dict(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int else None
