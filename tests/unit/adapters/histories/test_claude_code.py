"""Claude Code's transcripts are read right, trap by trap."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kiro_learn.adapters.histories.claude_code import REPEATED, TAKEN_BACK, UNKNOWN, ClaudeCodeHistory
from kiro_learn.adapters.histories.files import NO_JSON, TORN
from kiro_learn.adapters.histories.turns import NO_CALL, OF_A_MEMORY
from kiro_learn.model.event import JsonBody
from kiro_learn.model.ids import derived_event_id
from tests.unit.adapters.histories.transcripts import Row, read, told, written

SESSION = "5c0e1f2a-0000-4000-8000-000000000001"
FOLDER = "/src/shop"
READER = ClaudeCodeHistory()


def line(kind: str, uuid: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    minute = int("".join(filter(str.isdigit, uuid)) or 0) % 60
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "cwd": FOLDER,
        "isSidechain": False,
        "timestamp": f"2026-09-02T08:{minute:02}:11.120Z",
        **fields,
    }


def prompt(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return line("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def reply(
    uuid: str, parent: str | None, *blocks: Any, of: str = "", stop: str | None = None, **fields: Any
) -> dict[str, Any]:
    message = {"id": of or f"msg_{uuid}", "role": "assistant", "content": list(blocks), "stop_reason": stop}
    return line("assistant", uuid, parent, message=message, **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(
    uuid: str, parent: str, call_id: str, content: Any, *, response: Any = None, failed: bool = False, **fields: Any
) -> dict[str, Any]:
    block = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": content,
        **({"is_error": True} if failed else {}),
    }
    beside = {} if response is None else {"toolUseResult": response}
    return prompt(uuid, parent, [block], **beside, **fields)


def transcript(user: Path, rows: list[Row], *, name: str = SESSION) -> Path:
    return written(user / ".claude" / "projects" / "-src-shop" / f"{name}.jsonl", rows)


def test_a_turn_with_a_failure_and_a_success(tmp_path: Path) -> None:
    transcript(
        tmp_path,
        [
            prompt("b1", None, "why is the basket empty?"),
            reply("b2", "b1", text("I run the tests."), of="m1"),
            reply("b3", "b2", call("t1", command="pytest -q"), of="m1"),
            result("b4", "b3", "t1", "Exit code 1\n1 failed", response="Error: Exit code 1", failed=True),
            reply("b5", "b4", call("t2", command="pytest -q shop"), of="m2"),
            result("b6", "b5", "t2", "3 passed", response={"stdout": "3 passed", "stderr": "", "interrupted": False}),
            reply("b7", "b6", text("The session was dropped;"), of="m3"),
            reply("b8", "b7", text("it is kept now."), of="m3", stop="end_turn"),
        ],
    )
    events, skipped = read(READER, tmp_path)
    assert told(events) == [
        "prompt: why is the basket empty?",
        'tool_use: Bash {"command": "pytest -q"} failed',
        'tool_use: Bash {"command": "pytest -q shop"} well',
        "session_summary: The session was dropped;\nit is kept now.",
    ]
    assert not skipped
    assert {event.session_id for event in events} == {SESSION}
    assert {event.folder for event in events} == {FOLDER}
    assert events[0].happened_at == datetime(2026, 9, 2, 8, 1, 11, 120_000, UTC)
    assert [event.key for event in events] == ["b1", "t1 b3", "t2 b5", "b7"]
    assert not events[-1].may_go_on


def test_results_come_in_any_order_and_part_the_thread(tmp_path: Path) -> None:
    transcript(
        tmp_path,
        [
            prompt("b1", None, "look at both"),
            reply("b2", "b1", call("t1", "Read", file_path="/src/shop/a.py"), of="m1"),
            reply("b3", "b2", call("t2", "Read", file_path="/src/shop/b.py"), of="m1"),
            result("b4", "b3", "t2", "b = 2"),
            result("b5", "b2", "t1", "a = 1"),
            reply("b6", "b5", text("Both are constants.")),
        ],
    )
    events, skipped = read(READER, tmp_path)
    assert [event.key for event in events] == ["b1", "t2 b3", "t1 b2", "b6"]
    assert not skipped
    assert events[-1].may_go_on


def test_a_redo_takes_back_what_it_replaces(tmp_path: Path) -> None:
    transcript(
        tmp_path,
        [
            prompt("b1", None, "make it fast"),
            reply("b2", "b1", text("Done.")),
            prompt("b3", "b2", "use a cache"),
            reply("b4", "b3", text("A cache it is.")),
            prompt("b5", "b4", "and count its misses"),
            prompt("b6", "b2", "use an index"),
            reply("b7", "b6", text("An index it is.")),
        ],
    )
    events, skipped = read(READER, tmp_path)
    assert told(events) == [
        "prompt: make it fast",
        "session_summary: Done.",
        "prompt: use an index",
        "session_summary: An index it is.",
    ]
    assert skipped[TAKEN_BACK] == 3


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<command-name>/clear</command-name>\n<command-args></command-args>", []),
        ("<command-name>/review</command-name>\n<command-args>the basket alone</command-args>", ["the basket alone"]),
        ("<local-command-stdout>ok</local-command-stdout>", []),
        ("<task-notification>done</task-notification>", []),
        ("[Request interrupted by user]", []),
        ("Stop hook feedback: go on", []),
        ("This session is being continued from a previous one", []),
        ("<system-reminder>be brief</system-reminder>", []),
        ("<system-reminder>be brief</system-reminder>fix it", ["fix it"]),
        ([text("two"), text("blocks")], ["two\nblocks"]),
        ([{"type": "image", "source": {}}], []),
    ],
)
def test_only_a_persons_words_are_a_prompt(tmp_path: Path, content: Any, expected: list[str]) -> None:
    transcript(tmp_path, [prompt("b1", None, content)])
    events, _ = read(READER, tmp_path)
    assert told(events) == [f"prompt: {words}" for words in expected]


@pytest.mark.parametrize("mark", ["isMeta", "isCompactSummary", "isSidechain"])
def test_marked_lines_are_no_persons(tmp_path: Path, mark: str) -> None:
    transcript(tmp_path, [prompt("b1", None, "a caveat", **{mark: True})])
    assert read(READER, tmp_path)[0] == []


def test_an_answer_to_a_question_is_kept_as_the_hook_has_it(tmp_path: Path) -> None:
    questions = [{"question": "Which cache?", "header": "Cache", "options": [{"label": "Redis"}, {"label": "None"}]}]
    response = {"questions": questions, "answers": {"Which cache?": "Redis"}, "annotations": {}}
    transcript(
        tmp_path,
        [
            prompt("b1", None, "speed it up"),
            reply("b2", "b1", call("t1", "AskUserQuestion", questions=questions)),
            result("b3", "b2", "t1", 'User has answered your questions: "Which cache?"="Redis".', response=response),
        ],
    )
    events, _ = read(READER, tmp_path)
    assert isinstance(events[1].body, JsonBody)
    assert events[1].body.data["tool_response"] == response


def test_partial_lines_repeated_lines_and_unknown_ones(tmp_path: Path) -> None:
    first = prompt("b1", None, "go on")
    transcript(
        tmp_path,
        [
            first,
            reply("b2", "b1", text("The ba"), of="m1"),
            reply("b3", "b2", text("The basket is full."), of="m1"),
            first,
            {"type": "hologram", "uuid": "b9"},
            result("b4", "b3", "nowhere", "lost"),
            {"type": "file-history-snapshot", "messageId": "b1"},
        ],
    )
    events, skipped = read(READER, tmp_path)
    assert told(events) == ["prompt: go on", "session_summary: The basket is full."]
    assert skipped == {REPEATED: 1, UNKNOWN: 1, NO_CALL: 1}


def test_a_compaction_leaves_the_originals(tmp_path: Path) -> None:
    transcript(
        tmp_path,
        [
            prompt("b1", None, "go on"),
            reply("b2", "b1", text("Done.")),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "c0",
                "parentUuid": None,
                "logicalParentUuid": "b2",
            },
            prompt("c1", "c0", "This session is being continued …", isCompactSummary=True),
            prompt("b5", "c1", "and now the rest"),
        ],
    )
    events, _ = read(READER, tmp_path)
    assert told(events) == ["prompt: go on", "session_summary: Done.", "prompt: and now the rest"]


def test_what_was_typed_meanwhile(tmp_path: Path) -> None:
    def queue(operation: str, second: int, **fields: Any) -> Row:
        return {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": f"2026-09-02T08:05:{second:02}Z",
            **fields,
        }

    transcript(
        tmp_path,
        [
            prompt("b1", None, "go on"),
            queue("enqueue", 1, content="stands nowhere else"),
            queue("enqueue", 2, content="is sent later"),
            reply("b2", "b1", text("Done.")),
            prompt("b3", "b2", "is sent later"),
            queue("enqueue", 3, content="taken back"),
            queue("popAll", 4),
        ],
    )
    events, _ = read(READER, tmp_path)
    assert told(events) == [
        "prompt: go on",
        "prompt: stands nowhere else",
        "session_summary: Done.",
        "prompt: is sent later",
    ]


def test_sub_agents_have_sessions_of_their_own(tmp_path: Path) -> None:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a7"}
    path = transcript(
        tmp_path,
        [
            prompt("b1", None, "search"),
            prompt("s1", None, "you are a searcher", **side),
            reply("s2", "s1", text("thinking"), call("t1", "Grep", pattern="basket"), **side),
            result("s3", "s2", "t1", "shop.py:3", **side),
            reply("b2", "b1", text("Found.")),
        ],
    )
    own = [
        prompt("u1", None, "you are another searcher", **side),
        reply("u2", "u1", call("t2", "Grep", pattern="cart"), **side),
        result("u3", "u2", "t2", "nothing", **side),
        reply("u4", "u3", text("There is no cart."), **side),
    ]
    written(path.with_suffix("") / "subagents" / "agent-a8.jsonl", own)
    events, _ = read(READER, tmp_path)
    assert [(event.session_id, event.key) for event in events] == [
        ("agent-a8", "t2 u2"),
        ("agent-a8", "u4"),
        (SESSION, "b1"),
        ("agent-a7", "t1 s2"),
        (SESSION, "b2"),
    ]


def test_torn_tails_nuls_crlf_and_other_line_ends(tmp_path: Path) -> None:
    raw = json.dumps(prompt("b1", None, "one\u2028two\u0085three"), ensure_ascii=False).encode()
    transcript(tmp_path, [b"\xef\xbb\xbf" + raw + b"\r\n", b"\0" * 40 + b"\n", b"\n", "[1]\n", b'{"type": "user", "uu'])
    events, skipped = read(READER, tmp_path)
    assert told(events) == ["prompt: one\u2028two\u0085three"]
    assert skipped == {NO_JSON: 2, TORN: 1}


def test_the_folder_moves_and_links_are_not_followed(tmp_path: Path) -> None:
    moved, elsewhere = tmp_path / "moved", tmp_path / "elsewhere"
    written(moved / "projects" / "-src" / "one.jsonl", [prompt("b1", None, "here")])
    outside = written(elsewhere / "two.jsonl", [prompt("b2", None, "there")])
    (moved / "projects" / "-src" / "two.jsonl").symlink_to(outside)
    (moved / "projects" / "-linked").symlink_to(elsewhere)
    events, _ = read(READER, tmp_path, CLAUDE_CONFIG_DIR=str(moved))
    assert told(events) == ["prompt: here"]


def test_sessions_of_memories_are_left_out(tmp_path: Path) -> None:
    transcript(tmp_path, [prompt("b1", None, "observe", cwd="/home/ann/.claude-mem/observer-sessions")])
    events, skipped = read(READER, tmp_path)
    assert (events, dict(skipped)) == ([], {OF_A_MEMORY: 1})


def test_a_session_that_repeats_another_one_adds_only_what_is_new(tmp_path: Path) -> None:
    other = SESSION.replace("0001", "0002")
    uuids = [f"5c0e1f2a-0000-4000-8000-0000000001{number:02}" for number in range(3)]
    vendors = "toolu_01ABCDEFGHJKMNPQRSTVWXYZ"
    rows = [
        prompt(uuids[0], None, "go on"),
        reply(uuids[1], uuids[0], call(vendors, command="ls")),
        result("b9", uuids[1], vendors, "a"),
    ]
    transcript(tmp_path, [*rows])
    resumed: list[Row] = [row | {"sessionId": other} for row in rows]
    transcript(tmp_path, [*resumed, prompt(uuids[2], "b9", "and now?", sessionId=other)], name=other)
    events, _ = read(READER, tmp_path)
    assert len(events) == 5
    assert len({derived_event_id(event.session_id, event.kind, event.key) for event in events}) == 3
