from __future__ import annotations

import json

import pytest

from kiro_learn.learning.extraction.extractive.facts import MOST_FACTS, Files, facts_in, files_in, new_ones, tool_facts
from kiro_learn.learning.extraction.extractive.markdown import blocks_of
from kiro_learn.learning.extraction.extractive.turns import ToolUse, read
from kiro_learn.learning.extraction.user_answers import has_failed
from kiro_learn.model.buffer import BufferedEvent, BufferSnapshot
from kiro_learn.model.event import EventKind, JsonBody
from kiro_learn.testing.daemon import an_event


def facts(text: str, shown: str = "") -> list[str]:
    return facts_in(blocks_of(text), shown)


def test_facts_stand_in_the_order_of_the_text() -> None:
    text = "Added a flag for the verbose mode. It failed because the lock file was stale."
    assert facts(text) == ["Added a flag for the verbose mode.", "It failed because the lock file was stale."]


def test_too_many_are_joined_and_none_is_lost() -> None:
    said = [f"Worker{number} writes table{number} into file{number} for team{number}." for number in range(100)]
    found = facts_in(blocks_of(" ".join(said)), "", most=30)
    assert len(found) <= 30
    assert all(any(each in fact for fact in found) for each in said)


def test_the_first_statement_under_a_heading_has_it_in_front() -> None:
    text = "## Retry policy\n\nThe client waits for two seconds. The server closes the socket."
    assert facts(text) == ["Retry policy: The client waits for two seconds.", "The server closes the socket."]


def test_questions_are_kept_where_they_are_asked_for() -> None:
    text = "Would it be enough to compare the two trees once?"
    assert facts(text) == []
    assert facts_in(blocks_of(text), "", with_questions=True) == [text]


def test_what_the_summary_says_is_no_fact() -> None:
    assert facts("It failed because the lock file was stale.", "It failed because the old lock file was stale.") == []


def test_what_says_nothing_of_its_own_is_no_fact() -> None:
    assert facts("All tests pass. Done. Should I always do this?") == []


def test_a_short_list_item_takes_its_heading_along() -> None:
    assert facts("## 2. Uploads\n\n- \u2705 are always cut at 5 MB") == ["Uploads: are always cut at 5 MB"]
    assert facts("## Summary\n\n- uploads are always cut") == ["uploads are always cut"]


def test_a_command_is_a_fact() -> None:
    assert facts("```\nmake release VERSION=2 SIGN=1\nx := 1\n```") == ["`make release VERSION=2 SIGN=1`"]


def test_code_that_only_opens_a_block_is_no_fact() -> None:
    opening = "const skillDirMap: Record<TargetAgent, string> = {"
    assert facts(f"```\n{opening}\n  claude: 'a/skills',\n```\n") == []
    assert facts("```\nif state.checkpoint_count > 0 and state.base == head {\n```") != []


def test_the_stamps_of_a_log_are_no_part_of_a_fact() -> None:
    log = (
        "2025-09-19T18:43:01.417Z npm error Missing script lint 2025-09-19T18:43:01.5348216Z npm error see all scripts"
    )
    assert facts(log) == ["npm error Missing script lint npm error see all scripts"]
    failing = use("Bash", {"command": "gh run view 7 --log-failed"}, f"Exit code 1\nE2E {log}")
    (fact,) = tool_facts([failing], with_failures=True)
    assert fact.text.startswith("`gh run view 7 --log-failed` failed: E2E npm error Missing")


def test_a_list_item_that_announces_or_asks_is_no_fact() -> None:
    assert facts("- the limits must be:\n- should it always be so?\n\n| too | few |") == []


def test_the_head_of_a_table_is_no_fact() -> None:
    assert facts("| Always required | Never required |\n|---|---|\n| the token must be set | the port |") == [
        "the token must be set | the port"
    ]


def test_facts_are_few_and_short() -> None:
    found = facts("\n".join(f"- must never exceed {n} {'word' * 300}" for n in range(40)))
    assert len(found) <= MOST_FACTS
    assert all(len(fact) <= 500 for fact in found)


def test_near_repeats_are_told_once() -> None:
    assert new_ones(["the port is 8080", "the port is 8080 now"], "") == ["the port is 8080"]


def use(name: str, given: object, output: str = "", number: int = 1) -> ToolUse:
    shown = given if isinstance(given, str) else json.dumps(given)
    return ToolUse(number, name, shown, output, has_failed=has_failed(name, output, output))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Edit", {"file_path": "/home/dev/shop/src/pay.py", "old_string": "a", "new_string": "b"}),
        ("Write", {"content": "x", "file_path": "/home/dev/shop/src/pay.py"}),
        ("fs_write", {"command": "create", "path": "src/pay.py", "file_text": "x"}),
        ("str_replace_based_edit_tool", {"command": "str_replace", "path": "./src/pay.py"}),
        ("text_tool", {"command": "insert", "path": "src/pay.py"}),
    ],
)
def test_a_changed_file_is_known_whatever_the_tool_is_called(name: str, given: object) -> None:
    assert files_in([use(name, given)], "/home/dev/shop") == Files(modified=("src/pay.py",))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Read", {"file_path": "/home/dev/shop/src/pay.py"}),
        ("fs_read", {"operations": [{"mode": "Line", "path": "src/pay.py"}]}),
    ],
)
def test_a_file_that_was_only_read_is_told_apart(name: str, given: object) -> None:
    assert files_in([use(name, given)], "/home/dev/shop/") == Files(read=("src/pay.py",))


def test_a_file_that_was_read_and_changed_was_changed() -> None:
    uses = [use("Read", {"file_path": "a.py"}), use("Edit", {"file_path": "a.py"})]
    assert files_in(uses, "") == Files(modified=("a.py",))


def test_a_search_and_a_command_touch_no_file() -> None:
    uses = [use("Grep", {"pattern": "x", "path": "src"}), use("Bash", {"command": "rm a.py"}), use("Edit", "cut [...")]
    assert files_in(uses, "") == Files()


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'Retry payments three times'",
        'git add . && git commit -am "Retry payments three times"',
        "git commit -m \"$(cat <<'EOF'\nRetry payments three times\n\nBecause the bank is slow.\nEOF\n)\"",
    ],
)
def test_a_commits_subject_is_a_fact(command: str) -> None:
    (fact,) = tool_facts([use("Bash", {"command": command}, "[main 3f2a9bc] done", number=7)], with_failures=False)
    assert (fact.number, fact.text) == (7, "Committed: Retry payments three times")


def test_a_commit_without_a_message_is_no_fact() -> None:
    assert tool_facts([use("Bash", {"command": "git commit --amend --no-edit"})], with_failures=False) == []
    assert tool_facts([use("Bash", {"command": "git commit -m '  '"})], with_failures=False) == []


def test_a_command_may_be_a_list_or_a_text() -> None:
    listed = use("shell", {"command": ["git", "commit", "-m", "'Close the pool'"]})
    told = use("shell", "git commit -m 'Close the pool'")
    assert [fact.text for fact in tool_facts([listed], with_failures=False)] == ["Committed: Close the pool"]
    assert tool_facts([told], with_failures=False) == tool_facts([listed], with_failures=False)


def test_an_input_that_the_frame_cut_is_a_text() -> None:
    assert files_in([use("Edit", '{"file_path": "a.py", "old [... 9 characters left out ...]')], "") == Files()


def test_a_failure_without_an_error_line_tells_nothing() -> None:
    assert tool_facts([use("Bash", {"command": "false"}, "success: false\nexit_status: 1")], with_failures=True) == []


def test_a_commit_that_failed_is_none() -> None:
    assert (
        tool_facts([use("Bash", {"command": "git commit -m 'x y'"}, "fatal: not a repository")], with_failures=False)
        == []
    )


@pytest.mark.parametrize(("status", "facts"), [("0", ["Committed: Retry three times"]), ("1", [])])
def test_a_commit_that_only_ran_is_none(status: str, facts: list[str]) -> None:
    response = {"success": True, "result": [{"exit_status": f"exit status: {status}", "stdout": "", "stderr": ""}]}
    data = {"tool_name": "execute_bash", "tool_input": {"command": "git commit -m 'Retry three times'"}}
    event = an_event(1, kind=EventKind.TOOL_USE, body=JsonBody(data | {"tool_response": response}))
    batch = read(BufferSnapshot((BufferedEvent(event, position=1, size_bytes=1),)))
    tools = [each.tool for each in batch.events if each.tool]
    assert [fact.text for fact in tool_facts(tools, with_failures=True)] == facts


def test_a_failure_shows_the_command_and_its_error() -> None:
    failing = use(
        "execute_bash", {"command": "pytest -q"}, "success: false\nresult: ...\nE   ValueError: bad port\n1 failed"
    )
    (fact,) = tool_facts([failing], with_failures=True)
    assert fact.text == "`pytest -q` failed: E ValueError: bad port"


def test_a_failure_matters_only_where_the_turn_is_about_one() -> None:
    assert tool_facts([use("Bash", {"command": "pytest"}, "Exit code 1\nerror: x")], with_failures=False) == []


def test_a_command_that_failed_twice_is_told_once_as_it_failed_last() -> None:
    failing = [use("Bash", {"command": "make"}, f"Exit code 2\nerror: {n}", number=n) for n in (1, 2)]
    assert [fact.text for fact in tool_facts(failing, with_failures=True)] == ["`make` failed: error: 2"]


def test_what_a_person_refused_did_not_fail() -> None:
    refused = use(
        "Bash", {"command": "rm -r x"}, "success: false\nThe user doesn't want to proceed with this tool use. error"
    )
    assert tool_facts([refused], with_failures=True) == []


def test_tool_facts_are_few() -> None:
    failing = [use("Bash", {"command": f"make {n}"}, "Exit code 2\nerror: x", number=n) for n in range(9)]
    assert [fact.number for fact in tool_facts(failing, with_failures=True)] == [7, 8]
