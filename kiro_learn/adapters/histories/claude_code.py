"""Sessions of Claude Code: a file of JSON lines for each session and sub-agent, in a folder for each project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from kiro_learn.adapters.histories.files import (
    MAX_SESSION_ID,
    JsonLine,
    agent_folder,
    application_folders,
    files_below,
    json_lines,
    not_counted,
    session_in,
)
from kiro_learn.adapters.histories.turns import (
    NO_CALL,
    OF_A_MEMORY,
    SUMMARIES,
    is_of_a_memory,
    key_of_call,
    moment,
    object_in,
    objects_in,
    text_in,
    without_injected,
)
from kiro_learn.model.event import EventKind
from kiro_learn.model.namespace import branch_named
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hook_payload import failed_response, text_body, tool_body, words_of

TAKEN_BACK = "lines of attempts that were taken back"
REPEATED = "repeated lines"
UNKNOWN = "lines of an unknown type"

_NO_PERSON = (
    "<command-",
    "<local-command-",
    "<task-notification>",
    "[Request interrupted",
    "Stop hook feedback:",
    "This session is being continued",
)
_SILENT = frozenset(
    {
        *("attachment", "progress", "summary", "ai-title", "custom-title", "file-history-snapshot", "relocated"),
        *("worktree-state", "pr-link", "compact_boundary", "system", "last-prompt", "agent-name", "permission-mode"),
    }
)
"""The types of lines that hold nothing to learn from."""
_OVER = frozenset({"end_turn", "stop_sequence"})
_DEPTH = 4
"""How deep below ``projects`` the file of a sub-agent is."""


class ClaudeCodeHistory:
    """``HistoryReader`` for Claude Code, and for the agent mode of Claude Desktop, which has the same files."""

    name = "claude-code"
    title = "Claude Code"
    agent = "claude-code"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        for folder in _project_folders(place):
            for path in files_below(folder, ".jsonl", depth=_DEPTH):
                is_sub_agent = path.parent.name == "subagents"
                if (is_sub_agent or path.parent.parent == folder) and "claude-mem" not in path.relative_to(
                    folder
                ).parts[0]:
                    yield from session_in(path, path.stem)

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        if _belongs_to_a_memory(session.path):
            skipped(OF_A_MEMORY)
            return
        threads = Threads.of(json_lines(session.path, not_counted), is_prompt=lambda fields: bool(_said(fields)))
        lines = _Lines(session, skipped)
        for line in json_lines(session.path, skipped):
            if threads.is_repeated(line):
                skipped(REPEATED)
            elif threads.is_taken_back(line):
                skipped(TAKEN_BACK)
            else:
                yield from lines.told_by(line)
        yield from lines.end()


def _project_folders(place: HistoryPlace) -> Iterator[Path]:
    yield agent_folder(place, ".claude", "CLAUDE_CONFIG_DIR") / "projects"
    for folder in application_folders(place):
        yield from (folder / "Claude" / "local-agent-mode-sessions").glob("**/projects")


def _belongs_to_a_memory(path: Path) -> bool:
    """Whether a memory's own program held the session, by the first line that names a folder."""
    folders = (text_in(line.fields, "cwd") for line in json_lines(path, not_counted))
    return is_of_a_memory(next(filter(None, folders), ""))


def _said(fields: dict[str, Any]) -> str:
    """The text that a person typed; empty if the line is something else."""
    hidden = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly")
    if fields.get("type") != "user" or any(fields.get(name) is True for name in hidden):
        return ""
    return _typed(_text_of(object_in(fields, "message").get("content")))


def _typed(text: str) -> str:
    if text.lstrip().startswith("<command-"):
        return text.partition("<command-args>")[2].rpartition("</command-args>")[0].strip()
    return "" if text.lstrip().startswith(_NO_PERSON) else without_injected(text)


def _text_of(content: Any) -> str:
    """The text in a message's content, without results of tools in the same message."""
    if isinstance(content, list):
        content = [block for block in content if not (isinstance(block, dict) and block.get("type") == "tool_result")]
    return words_of(content)


@attrs.frozen
class _Call:
    key: str
    name: str
    given: Any
    session_id: str


@attrs.define
class _Reply:
    """A message of the model while it is read: many lines with the same id, each with one block."""

    message_id: str
    key: str
    """The uuid of the message's first line."""
    happened_at: datetime | None = None
    texts: list[str] = attrs.Factory(list)
    has_calls: bool = False
    is_over: bool = False

    def add(self, text: str) -> None:
        """Add a block, or replace the last one, of which ``text`` is a longer version."""
        if self.texts and text.startswith(self.texts[-1]):
            self.texts[-1] = text
        elif text not in self.texts:
            self.texts.append(text)


class _Lines:
    """Makes events of the lines that count, one after the other."""

    def __init__(self, session: PastSession, skipped: Skipped) -> None:
        self._skipped = skipped
        self._is_sub_agent = session.path.parent.name == "subagents"
        self._session_id = session.session_id
        self._folder = session.folder
        self._branch: str | None = None
        self._now: datetime | None = None
        self._calls: dict[str, _Call] = {}
        self._reply: _Reply | None = None
        self._queued: dict[str, tuple[str, datetime | None]] = {}
        """The prompts that were typed while the agent worked: the key and the time of each, by its text."""

    def told_by(self, line: JsonLine) -> Iterator[PastEvent]:
        fields = line.fields
        self._folder = text_in(fields, "cwd") or self._folder
        self._branch = branch_named(fields["gitBranch"]) if "gitBranch" in fields else self._branch
        self._now = moment(fields.get("timestamp")) or self._now
        if not self._is_sub_agent:
            self._session_id = text_in(fields, "sessionId")[:MAX_SESSION_ID] or self._session_id
        key = text_in(fields, "uuid") or f"line {line.number}"
        match fields.get("type"):
            case "user":
                yield from self._user(fields, key)
            case "assistant":
                self._assistant(fields, key)
            case "queue-operation":
                self._queue(fields, key)
            case "system" if fields.get("subtype") == "turn_duration":
                yield from self._end_of_turn()
            case str(kind) if kind in _SILENT:
                pass
            case _:
                self._skipped(UNKNOWN)

    def end(self) -> Iterator[PastEvent]:
        """Call this at the end of the file. The last turn may go on, unless the model said that it ended."""
        yield from self._end_of_turn(may_go_on=self._reply is not None and not self._reply.is_over)

    def _user(self, fields: dict[str, Any], key: str) -> Iterator[PastEvent]:
        message = object_in(fields, "message")
        results = [block for block in objects_in(message.get("content")) if block.get("type") == "tool_result"]
        for block in results:
            yield from self._result(block, fields.get("toolUseResult") if len(results) == 1 else None)
        if fields.get("isCompactSummary") is True:
            self._skipped(SUMMARIES)
        said = "" if self._is_sub_agent else _said(fields)
        if said:
            self._queued.pop(said, None)
            yield from self._end_of_turn()
            yield self._event(EventKind.PROMPT, key, text_body(said))

    def _result(self, block: dict[str, Any], response: Any) -> Iterator[PastEvent]:
        call_id = text_in(block, "tool_use_id")
        call = self._calls.pop(call_id, None)
        if call is None:
            self._skipped(NO_CALL)
            return
        content = block.get("content")
        shown = content if isinstance(content, str) else _text_of(content) or content
        if block.get("is_error") is True:
            response = failed_response(shown)
        elif not isinstance(response, dict):
            response = shown
        body = tool_body(call.name, call.given, response)
        yield attrs.evolve(self._event(EventKind.TOOL_USE, call.key, body), session_id=call.session_id)

    def _session_of(self, fields: dict[str, Any]) -> str:
        """The session's id. A sub-agent among its parent's lines gets its own, as a sub-agent with a file has."""
        is_inline = fields.get("isSidechain") is True and not self._is_sub_agent
        agent_id = text_in(fields, "agentId") if is_inline else ""
        return f"agent-{agent_id}"[:MAX_SESSION_ID] if agent_id else self._session_id

    def _assistant(self, fields: dict[str, Any], key: str) -> None:
        message = object_in(fields, "message")
        for block in objects_in(message.get("content")):
            if block.get("type") == "tool_use" and text_in(block, "id"):
                self._calls[text_in(block, "id")] = _Call(
                    key_of_call(text_in(block, "id"), key),
                    text_in(block, "name"),
                    block.get("input"),
                    self._session_of(fields),
                )
        if fields.get("isSidechain") is True and not self._is_sub_agent:
            return
        message_id = text_in(message, "id") or key
        if self._reply is None or self._reply.message_id != message_id:
            self._reply = _Reply(message_id, key)
        reply = self._reply
        for block in objects_in(message.get("content")):
            if block.get("type") == "text" and text_in(block, "text").strip():
                reply.add(text_in(block, "text"))
                reply.happened_at = self._now
            reply.has_calls = reply.has_calls or block.get("type") == "tool_use"
        reply.is_over = reply.is_over or text_in(message, "stop_reason") in _OVER

    def _queue(self, fields: dict[str, Any], key: str) -> None:
        text = _typed(text_in(fields, "content"))
        match fields.get("operation"):
            case "enqueue" if text:
                self._queued[text] = (f"queued {fields.get('timestamp', key)}", self._now)
            case "dequeue" if self._queued:
                first = next(iter(self._queued))
                self._queued[first] = (self._queued[first][0], self._now)
            case "remove" | "popAll":
                self._queued.clear()

    def _end_of_turn(self, *, may_go_on: bool = False) -> Iterator[PastEvent]:
        """Queued prompts that no other line has, and the answer if the model's last message is one."""
        queued, self._queued = self._queued, {}
        for text, (key, at) in queued.items():
            yield self._event(EventKind.PROMPT, key, text_body(text), at=at, may_go_on=may_go_on)
        reply, self._reply = self._reply, None
        if reply is not None and reply.texts and not reply.has_calls:
            body = text_body("\n".join(reply.texts))
            yield self._event(EventKind.SESSION_SUMMARY, reply.key, body, at=reply.happened_at, may_go_on=may_go_on)

    def _event(
        self, kind: EventKind, key: str, body: Any, *, at: datetime | None = None, may_go_on: bool = False
    ) -> PastEvent:
        return PastEvent(
            session_id=self._session_id,
            kind=kind,
            key=key,
            body=body,
            happened_at=at or self._now,
            folder=self._folder,
            branch=self._branch,
            may_go_on=may_go_on,
        )


# Finds the lines of a Claude Code session that are repeated, and those that were taken back.
#
# Each line names the line before it. If a person goes back and types another prompt, two prompts name the same
# message: the session goes on from the later one, and all lines that follow the earlier one were taken back.
# Results of tools that ran at the same time name the same message too, and all of them belong to the session.

PromptTest = Callable[[dict[str, Any]], bool]


@attrs.define
class Threads:
    """Says of each line of a file whether it counts, after the file was read once."""

    _first: dict[str, int] = attrs.Factory(dict)
    """The number of the first line with each uuid."""
    _prompt_of: dict[int, int] = attrs.Factory(dict)
    """The prompt that each line follows, both as line numbers; a prompt has itself."""
    _taken_back: set[int] = attrs.Factory(set)
    """The line numbers of the prompts that were taken back."""

    @classmethod
    def of(cls, lines: Iterable[JsonLine], *, is_prompt: PromptTest) -> Threads:
        threads = cls()
        anchors: dict[str, str] = {}
        latest: dict[str, int] = {}
        before: dict[int, int] = {}
        for line in lines:
            uuid, parent = text_in(line.fields, "uuid"), text_in(line.fields, "parentUuid")
            if not uuid or uuid in threads._first:
                continue
            followed = threads._prompt_of.get(threads._first.get(parent, -1), -1)
            anchor = anchors.get(parent, parent)
            threads._first[uuid] = line.number
            threads._prompt_of[line.number] = followed
            anchors[uuid] = _anchor(line.fields) or anchor
            if is_prompt(line.fields):
                threads._prompt_of[line.number] = line.number
                before[line.number] = followed
                anchors[uuid] = uuid
                if anchor in latest:
                    threads._taken_back.add(latest[anchor])
                if anchor:
                    latest[anchor] = line.number
        for prompt, followed in before.items():  # oldest first
            if followed in threads._taken_back:
                threads._taken_back.add(prompt)
        return threads

    def is_repeated(self, line: JsonLine) -> bool:
        """Whether an earlier line has the same uuid."""
        return self._first.get(text_in(line.fields, "uuid"), line.number) != line.number

    def is_taken_back(self, line: JsonLine) -> bool:
        """Whether it is, or follows, a prompt that another prompt replaced."""
        return self._prompt_of.get(line.number, -1) in self._taken_back


def _anchor(fields: dict[str, Any]) -> str:
    """An id of the message that the line is part of; empty for a line that belongs to no message."""
    message = object_in(fields, "message")
    if fields.get("type") == "assistant":
        return text_in(message, "id") or text_in(fields, "uuid")
    has_results = any(block.get("type") == "tool_result" for block in objects_in(message.get("content")))
    return text_in(fields, "uuid") if has_results else ""
