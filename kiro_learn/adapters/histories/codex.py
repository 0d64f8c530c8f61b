"""Sessions of Codex: a file of JSON lines for each, in folders by day; archived ones are in another folder."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from kiro_learn.adapters.histories.files import (
    MAX_SESSION_ID,
    JsonLine,
    agent_folder,
    files_below,
    json_lines,
    not_counted,
    session_in,
)
from kiro_learn.adapters.histories.turns import (
    OF_A_MEMORY,
    SUMMARIES,
    Teller,
    moment,
    object_in,
    objects_in,
    text_in,
    turns,
)
from kiro_learn.model.namespace import branch_named
from kiro_learn.ports.histories import HistoryPlace, PastEvent, PastSession, Skipped
from kiro_learn.wire.hook_payload import read_whole_object, words_of

COMPRESSED = "archived sessions that are compressed"
ROLLED_BACK = "lines of turns that were taken back"
COPIED = "lines copied from the session before"

_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FOLDERS = ("sessions", "archived_sessions")
_DEPTH = 5
_NO_PERSON = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
    "# AGENTS.md",
)
_MEMORIES = frozenset({"memory_consolidation", "guardian_review"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


class CodexHistory:
    """``HistoryReader`` for Codex CLI and the programs that share its sessions."""

    name = "codex"
    title = "Codex"
    agent = "codex"

    def sessions(self, place: HistoryPlace) -> Iterator[PastSession]:
        root = agent_folder(place, ".codex", "CODEX_HOME")
        paths = [path for folder in _FOLDERS for path in _rollouts(root / folder)]
        plain = {path.name for path in paths if path.suffix == ".jsonl"}
        for path in paths:
            if path.suffix == ".jsonl" or path.name.removesuffix(".zst") not in plain:
                yield from session_in(path, _thread_in(path))

    def events(self, session: PastSession, skipped: Skipped) -> Iterator[PastEvent]:
        if session.path.suffix != ".jsonl":
            skipped(COMPRESSED)
            return
        outline = _Outline.of(session.path)
        if outline.source in _MEMORIES:
            skipped(OF_A_MEMORY)
        else:
            yield from turns(_Rollout(session, outline, skipped).told(), skipped)


def _rollouts(folder: Path) -> Iterator[Path]:
    return files_below(folder, ".jsonl", ".jsonl.zst", depth=_DEPTH)


def _thread_in(path: Path) -> str:
    """The thread's id in the file's name. After a revert, the rollout's own id follows it there."""
    found = _THREAD.search(path.name)
    return found.group() if found else path.name.partition(".")[0][:MAX_SESSION_ID]


@attrs.define
class _Outline:
    """What the reader must know of a whole file before it makes the first event."""

    source: str = ""
    is_sub_agent: bool = False
    copied: frozenset[int] = frozenset()
    """The digests of the items of the session that this one was forked from; it begins with copies of them."""
    has_messages: bool = False
    """Whether items hold the messages; if not, only the events for the screen do."""
    gone: list[range] = attrs.Factory(list)
    """The numbers of the lines whose turns were taken back."""

    @classmethod
    def of(cls, path: Path) -> _Outline:
        outline, prompts, has_begun = cls(), [], False
        for line in json_lines(path, not_counted):
            payload = object_in(line.fields, "payload")
            if line.fields.get("type") == "session_meta" and not has_begun:
                has_begun = True
                outline._begin(path, payload)
            elif _said(line.fields):
                outline.has_messages = True
                prompts.append(line.number)
            elif payload.get("type") == "message":
                outline.has_messages = True
            elif payload.get("type") == "thread_rolled_back":
                count = payload.get("num_turns")
                if isinstance(count, int) and count > 0 and prompts:
                    outline.gone.append(range(prompts[-count:][0], line.number))
                    del prompts[-count:]
        return outline

    def _begin(self, path: Path, payload: dict[str, Any]) -> None:
        self.source = text_in(payload, "thread_source")
        source = payload.get("source")
        self.is_sub_agent = bool(text_in(payload, "parent_thread_id")) or (
            isinstance(source, dict) and "subagent" in source
        )
        if forked := text_in(payload, "forked_from_id"):
            root = next((folder for folder in path.parents if folder.name in _FOLDERS), path.parent).parent
            before = (each for folder in _FOLDERS for each in _rollouts(root / folder) if forked in each.name)
            parent = next((each for each in before if each.suffix == ".jsonl" and each != path), None)
            if parent is not None:
                lines = json_lines(parent, not_counted)
                self.copied = frozenset(_digest(line.fields) for line in lines if _is_item(line.fields))

    def is_gone(self, line: JsonLine) -> bool:
        return any(line.number in lines for lines in self.gone)


def _is_item(fields: dict[str, Any]) -> bool:
    return fields.get("type") == "response_item"


def _digest(fields: dict[str, Any]) -> int:
    text = json.dumps(fields.get("payload"), sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _said(fields: dict[str, Any]) -> str:
    """The text that a person typed; empty if the line is no such item."""
    payload = object_in(fields, "payload")
    if not _is_item(fields) or payload.get("type") != "message" or payload.get("role") != "user":
        return ""
    blocks = [words_of(block) for block in objects_in(payload.get("content"))]
    return "\n".join(text for text in blocks if text.strip() and not text.lstrip().startswith(_NO_PERSON))


class _Rollout:
    """Reads the items of one file."""

    def __init__(self, session: PastSession, outline: _Outline, skipped: Skipped) -> None:
        self._path = session.path
        self._outline = outline
        self._skipped = skipped
        self._tell = Teller(skipped, session.session_id, session.folder)
        self._is_copied = bool(outline.copied)
        self._has_begun = False

    def told(self) -> Iterator[PastEvent]:
        for line in json_lines(self._path, self._skipped):
            fields, payload = line.fields, object_in(line.fields, "payload")
            at = moment(fields.get("timestamp"))
            if self._is_of_before(fields):
                self._skipped(COPIED)
            elif self._outline.is_gone(line):
                self._skipped(ROLLED_BACK)
            else:
                yield from self._line(fields, payload, f"line {line.number}", at)
        self._tell.end()

    def _is_of_before(self, fields: dict[str, Any]) -> bool:
        if self._is_copied and _is_item(fields):
            self._is_copied = _digest(fields) in self._outline.copied
            return self._is_copied
        return False

    def _line(
        self, fields: dict[str, Any], payload: dict[str, Any], key: str, at: datetime | None
    ) -> Iterator[PastEvent]:
        match fields.get("type"):
            case "session_meta" if not self._has_begun:
                self._has_begun = True
                self._tell.session_id = text_in(payload, "id")[:MAX_SESSION_ID] or self._tell.session_id
                self._tell.folder = text_in(payload, "cwd") or self._tell.folder
                self._tell.branch = branch_named(object_in(payload, "git").get("branch"))
            case "turn_context":
                self._tell.folder = text_in(payload, "cwd") or self._tell.folder
            case "response_item":
                yield from self._item(fields, payload, key, at)
            case "event_msg" if not self._outline.has_messages:
                yield from self._note(payload, key, at)
            case "compacted":
                self._skipped(SUMMARIES)

    def _item(
        self, fields: dict[str, Any], payload: dict[str, Any], key: str, at: datetime | None
    ) -> Iterator[PastEvent]:
        match payload.get("type"):
            case "message" if payload.get("role") == "assistant":
                yield from self._tell.answer(key, words_of(payload.get("content")), at)
            case "message" if not self._outline.is_sub_agent:
                yield from self._tell.prompt(key, _said(fields), at)
            case "web_search_call":
                response = {"status": payload.get("status")}
                yield self._tell.call(key, "web_search", payload.get("action"), response, at)
            case str(kind) if kind in _CALLS:
                self._tell.began(text_in(payload, "call_id"), *_call(payload))
            case str(kind) if kind in _RESULTS:
                yield from self._tell.ended(text_in(payload, "call_id"), payload.get("output"), at)

    def _note(self, payload: dict[str, Any], key: str, at: datetime | None) -> Iterator[PastEvent]:
        """A message of an event for the screen, for files whose items hold none."""
        match payload.get("type"):
            case "user_message" if not self._outline.is_sub_agent:
                yield from self._tell.prompt(key, text_in(payload, "message"), at)
            case "agent_message":
                yield from self._tell.answer(key, text_in(payload, "message"), at)


def _call(payload: dict[str, Any]) -> tuple[str, Any]:
    """The tool's name and input in a call of it."""
    name, namespace = text_in(payload, "name"), text_in(payload, "namespace")
    if namespace:
        name = f"{namespace.removesuffix('__')}__{name}"
    if payload.get("type") == "local_shell_call":
        return name or "local_shell", object_in(payload, "action")
    if payload.get("type") == "custom_tool_call":
        return name, {"input": text_in(payload, "input")}
    given = text_in(payload, "arguments")
    read = read_whole_object(given)
    return name, given if read is None else read
