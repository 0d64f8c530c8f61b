"""The answers of a person to a tool that asked them: their own words, although a tool's result carries them.

Agents differ in the name of the tool that asks and in the shape of its result. The questions are in the tool's input.
An answer is found by the text, the id, the header or the place of its question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from kiro_learn.learning.extraction.extractive.vocabulary import on_one_line

MOST_ANSWERS = 12
"""The most answers in one use of a tool. Claude Code asks at most four questions at once, Codex three."""
MOST_OPTIONS = 20
"""The most options of one question."""

_ASKS = re.compile(r"(?<![a-z])ask", re.IGNORECASE)
_ASKED_ABOUT = ("user", "question", "human")
"""Words in the name of a tool that asks: AskUserQuestion, ask_user, ask_followup_question, AskQuestion."""

_QUESTION_KEYS = ("question", "prompt", "message", "text", "title")
_ANSWER_KEYS = ("answers", "answer", "selected", "response", "value")
_WRAPPERS = ("result", "content", "llmContent", "output", "text", "metadata")
_DEPTH = 6

_PREFIX = re.compile(
    r"\A\s*(?:(?:the )?user(?:'s)? (?:has )?"
    r"(?:selected|responded|response|answered|answer|chose|chosen|replied|input|said)(?: with)?\s*:?\s*|user_note:\s*)",
    re.IGNORECASE,
)
_ENVELOPE = re.compile(
    r"\A\s*<(?:answer|feedback|user_message)>(.*)</(?:answer|feedback|user_message)>\s*\Z", re.DOTALL
)
_TAIL = "You can now continue with "
_BEHIND = re.compile(r"\"\s*+(user notes|notes|selected preview|selected markdown):")
_REFUSED = re.compile(
    r"user doesn't want to|user rejected|tool use was rejected|user (?:declined|dismissed|cancell?ed|skipped)"
    r"|InputValidationError|no answer provided",
    re.IGNORECASE,
)
_ANSWERED = "User has answered your questions:"
_REFUSAL = "{} refused"
_SENTENCE_MARKS = " .!?"
_FEEDBACK = re.compile(r"tell you how to proceed, the user said:\s*(?!The user wants to clarify)(\S.*)", re.DOTALL)
"""The text that a person typed instead of letting a tool run."""


@attrs.frozen
class UserAnswer:
    """A question that was put to a person, and their answer."""

    question: str
    """The question as it was asked. If nothing was asked, it names the tool that the person refused."""
    answer: str
    """The chosen options, or the text that was typed."""
    meaning: str = ""
    """The question's description of the chosen options."""
    others: str = ""
    """The options that were not chosen."""

    def with_each(self, change: Callable[[str], str]) -> UserAnswer:
        """The same with ``change`` applied to each of its texts."""
        return UserAnswer(*map(change, (self.question, self.answer, self.meaning, self.others)))

    def is_refusal_of(self, tool: str) -> bool:
        """Whether the answer was typed instead of letting this tool run. Then it answers no question."""
        return self.question == _REFUSAL.format(tool)

    @property
    def statement(self) -> str:
        """Question and answer on one line, without the mark at the end of the question.

        Passages of a memory are cut at the end of sentences. With the mark, a long question would be told without its
        answer.
        """
        question = self.question.rstrip(_SENTENCE_MARKS)
        meaning = f" ({self.meaning})" if self.meaning else ""
        others = f"; not: {self.others}" if self.others else ""
        return f"{question} \u2192 {self.answer}{meaning}{others}"


@attrs.frozen
class _Question:
    text: str
    names: tuple[str, ...]
    """The names that an answer may call it by."""
    options: tuple[tuple[str, str], ...]
    """The (label, description) of each option."""


def user_answers(name: str, given: Any, response: Any) -> list[UserAnswer]:
    """The answers in this use of the tool ``name``, or the text typed instead of letting it run; mostly none."""
    if not _is_asking(name):
        return [UserAnswer(_REFUSAL.format(name), on_one_line(said))] if (said := _feedback(response)) else []
    questions = _questions(given)[:MOST_ANSWERS]
    answers = _structured(response, questions) or _structured(given, questions)
    if not answers:
        text = _text_of(response, _DEPTH)
        answers = {} if _REFUSED.search(text) else _from_text(text, questions)
    return [_told(questions[place], answer) for place, answer in sorted(answers.items()) if answer]


def _is_asking(name: str) -> bool:
    lowered = name.lower()
    return (
        (bool(_ASKS.search(name)) and any(word in lowered for word in _ASKED_ABOUT))
        or ("input" in lowered and ("user" in lowered or "request" in lowered))
        or lowered.rpartition("__")[2] in ("question", "questions")
    )


def _feedback(response: Any) -> str:
    """The text that a person typed instead of letting the tool run."""
    text = _text_of(response, _DEPTH)
    found = _FEEDBACK.search(text) if "the user said:" in text else None
    return found.group(1).strip() if found else ""


def _questions(given: Any) -> list[_Question]:
    given = _decoded(given)
    if isinstance(given, dict):
        listed = _decoded(given.get("questions"))
        if isinstance(listed, list):
            return [found for place, each in enumerate(listed) if (found := _question(each, place))]
    found = _question(given, 0)
    return [found] if found else []


def _question(value: Any, place: int) -> _Question | None:
    if isinstance(value, str):
        return _Question(on_one_line(value), (value, str(place)), ()) if value.strip() else None
    if not isinstance(value, dict):
        return None
    text = next((value[key] for key in _QUESTION_KEYS if isinstance(value.get(key), str) and value[key].strip()), "")
    names = tuple(value[key] for key in ("id", "header") if isinstance(value.get(key), str))
    options = _decoded(value.get("options", value.get("choices")))
    labels = tuple(filter(None, map(_option, options[:MOST_OPTIONS]))) if isinstance(options, list) else ()
    return _Question(on_one_line(text), (text, *names, str(place)), labels) if text else None


def _option(value: Any) -> tuple[str, str] | None:
    if isinstance(value, str):
        return on_one_line(value), ""
    if not isinstance(value, dict):
        return None
    label = next((value[key] for key in ("label", "title", "value", "name") if isinstance(value.get(key), str)), "")
    described = value.get("description")
    return (on_one_line(label), on_one_line(described) if isinstance(described, str) else "") if label else None


def _structured(value: Any, questions: Sequence[_Question], depth: int = _DEPTH) -> dict[int, str]:
    """The answers in ``value``, by the place of their question."""
    value = _decoded(value)
    if depth == 0:
        return {}
    if isinstance(value, list):
        return next((found for each in value if (found := _structured(each, questions, depth - 1))), {})
    if not isinstance(value, dict):
        return {}
    for key in _ANSWER_KEYS:
        if found := _named(_decoded(value.get(key)), questions):
            return found
    return next((found for key in _WRAPPERS if (found := _structured(value.get(key), questions, depth - 1))), {})


def _named(answers: Any, questions: Sequence[_Question]) -> dict[int, str]:
    if isinstance(answers, Mapping):
        places = {name: place for place, question in reversed(list(enumerate(questions))) for name in question.names}
        return {places[key]: _answer(value) for key, value in answers.items() if key in places}
    if isinstance(answers, list) and (len(questions) > 1 or any(isinstance(each, list) for each in answers)):
        return {place: _answer(value) for place, value in enumerate(answers[: len(questions)])}
    return {0: _answer(answers)} if len(questions) == 1 and answers and not isinstance(answers, bool) else {}


def _answer(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[key] for key in (*_ANSWER_KEYS, *_WRAPPERS, "label") if key in value), "")
    if isinstance(value, list):
        return ", ".join(filter(None, (_answer(each) for each in value[:MOST_ANSWERS] if not isinstance(each, list))))
    return _PREFIX.sub("", on_one_line(value)) if isinstance(value, str) else ""


def _from_text(text: str, questions: Sequence[_Question]) -> dict[int, str]:
    """Answers in prose: ``"question"="answer"`` for each, or the whole text if there was one question."""
    marks = [(text.find(mark), place, mark) for place, question in enumerate(questions) if (mark := _mark(question))]
    found = sorted(mark for mark in marks if mark[0] >= 0)
    if found:
        ends = [start for start, _, _ in found[1:]] + [_tail(text, found[-1][0])]
        return {
            place: _quoted(text[start + len(mark) : end]) for (start, place, mark), end in zip(found, ends, strict=True)
        }
    if len(questions) != 1 or _ANSWERED in text:
        return {}
    return {0: on_one_line(_PREFIX.sub("", _ENVELOPE.sub(r"\1", text)))}


def _mark(question: _Question) -> str:
    return f'"{question.names[0]}"="'


def _tail(text: str, start: int) -> int:
    found = text.find(_TAIL, start)
    return found if found >= 0 else len(text)


def _quoted(piece: str) -> str:
    """The answer at the beginning of ``piece``, up to its closing quote, and a note after it that says more."""
    answer, *behind = _BEHIND.split(piece.rstrip(",. \n"), maxsplit=1)
    if not behind:
        return on_one_line(answer.removesuffix('"'))
    label, said = behind
    answer, notes = on_one_line(answer), on_one_line(said) if label == "user notes" else ""
    return f"{answer} ({notes})" if notes and notes.rstrip(".") not in answer else answer


def _told(question: _Question, answer: str) -> UserAnswer:
    chosen = [option for option in question.options if option[0] == answer] or [
        option for option in question.options if option[0] and option[0] in answer
    ]
    meaning = " ".join(described for _, described in chosen if described)
    others = ", ".join(label for label, _ in question.options if (label, _) not in chosen) if chosen else ""
    return UserAnswer(question.text, answer, meaning, others)


def _text_of(value: Any, depth: int) -> str:
    return "\n".join(_texts(value, depth))


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for key in _WRAPPERS:
            yield from _texts(value.get(key), depth - 1)
    elif depth and isinstance(value, list):
        for each in value:
            yield from _texts(each, depth - 1)


def _decoded(value: Any) -> Any:
    """``value``, or the decoded content of a text that is JSON."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


# Whether a use of a tool failed. Agents report that in different ways, which are all read here.
#
# Two fields do not say what their names promise. ``success: true`` of Kiro CLI and Amazon Q only says that the tool
# ran; an ``exit_status`` inside of the result says how its command ended. ``success: true`` of Goose may hold an
# ``isError: true``. So no reported success outweighs a failure that is reported anywhere else.

_WRAPPERS_OF_RESULTS = frozenset(
    {"result", "results", "content", "output", "metadata", "state", "data", "json", "terminalcommandstate"}
)
"""The fields in which agents put a result, or their notes about it."""

_ENVELOPES = frozenset({"state", "metadata"})
"""Those of these fields that the agent wrote, and not the tool."""

_EXITS = frozenset({"exitcode", "exitstatus", "exit", "returncode"})
_FLAGS = frozenset({"iserror", "rejected", "interrupted", "timedout"})
_FAILURES = frozenset({"error", "failed", "failure", "cancelled", "canceled", "rejected", "declined", "timeout"})
"""Statuses of a call that did not do what it should."""

_EXIT_TEXT = re.compile(r"\s*(?:exit (?:status|code):? *)?(-?\d{1,10})\s*", re.IGNORECASE)
_SIGNAL = re.compile(r"\s*signal: *\d", re.IGNORECASE)
_IN_TEXT = re.compile(
    r"^success: false|^is_?error: true|^(?:fatal|panic): |^Traceback \(most recent|^--- FAIL|^FAIL\b"
    r"|^(?:exit_?(?:code|status)\"?: (?:exit (?:status|code): )?|exit code:? )[1-9]"
    r"|^(?:process |<)exited with (?:exit )?code [1-9]"
    r"|^error(?:\[E\d+\])?: |\b[1-9]\d* (?:failed|failing)\b|^npm ERR!"
    r"|^\S{1,40}: (?:line \d+: )?\S{1,80}: command not found",
    re.IGNORECASE | re.MULTILINE,
)
"""How programs, and agents whose results are text, report a failure."""

_RUNNING = re.compile(r"bash|shell|exec|command|terminal|run|aws|powershell", re.IGNORECASE)

_ITEMS = 40


def runs_commands(tool: str) -> bool:
    """Whether the tool of this name runs commands."""
    return _RUNNING.search(tool) is not None


def has_failed(tool: str, response: Any, shown: str) -> bool:
    """Whether the use of a tool failed, as far as its result says so.

    Args:
      tool: its name. The text of a tool that runs no commands is not read: a file may be about any failure.
      response: the result as the agent reported it, any JSON.
      shown: ``response`` as a text, or what is left of it.
    """
    if _says_failed(response, _DEPTH, is_envelope=True):
        return True
    return runs_commands(tool) and _IN_TEXT.search(shown) is not None


def _says_failed(value: Any, depth: int, *, is_envelope: bool) -> bool:
    if depth == 0:
        return False
    match value:
        case str():
            return any(_field_fails(name, each) for name, each in _fields_in(value) if name != "success")
        case list():
            return any(_says_failed(each, depth - 1, is_envelope=False) for each in value[:_ITEMS])
        case dict():
            return any(_told_by(_plain(name), each, depth, is_envelope=is_envelope) for name, each in value.items())
        case _:
            return False


def _told_by(name: str, value: Any, depth: int, *, is_envelope: bool) -> bool:
    if name in _WRAPPERS_OF_RESULTS and _says_failed(value, depth - 1, is_envelope=is_envelope and name in _ENVELOPES):
        return True
    if is_envelope and name == "status":
        return isinstance(value, str) and value.lower() in _FAILURES
    if is_envelope and name == "error":
        return bool(value.strip() if isinstance(value, str) else value)
    return _field_fails(name, value)


def _field_fails(name: str, value: Any) -> bool:
    if name in _EXITS:
        return _is_failing_exit(value)
    return value is True if name in _FLAGS else value is False and name == "success"


def _is_failing_exit(value: Any) -> bool:
    """Whether an exit value means a failure: ``1``, ``"1"``, ``"exit status: 1"``, ``"signal: 9 (SIGKILL)"``."""
    if isinstance(value, str):
        found = _EXIT_TEXT.fullmatch(value)
        return int(found.group(1)) != 0 if found else _SIGNAL.match(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and value != 0


def _fields_in(text: str) -> Iterator[tuple[str, Any]]:
    """The fields of a text that is a JSON object, and of its metadata. Results of Cursor and Codex are such texts.

    A command may also have printed such a text. So the caller reads only fields that hardly any command prints.
    """
    if not text.startswith("{"):
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    metadata = value.get("metadata")
    for fields in (value, metadata if isinstance(metadata, dict) else {}):
        yield from ((_plain(name), each) for name, each in fields.items())


def _plain(name: str) -> str:
    """The name in one form: ``exit_code`` and ``exitCode`` become equal."""
    return name.replace("_", "").lower()
