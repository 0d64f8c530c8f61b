"""One session of sixty events, as its hooks report it and as the agent's own history stores it.

The text is invented. In it, a person corrects the agent, commands fail and are fixed, a decision is made and changed,
and the agent asks a question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import attrs

SESSION = "5c0e1f2a-0000-4000-8000-00000000000a"
FOLDER = "/src/shop"
EMPTY = ""

Json: TypeAlias = dict[str, Any]


@attrs.frozen
class Step:
    """One step of the session. A use of a tool has its name, input and result; other steps have only a text."""

    kind: str
    text: str
    tool: str = ""
    given: Json = attrs.Factory(dict)
    fails: bool = False
    answers: Json = attrs.Factory(dict)
    is_of_sub_agent: bool = False


def asks(text: str) -> Step:
    return Step("prompt", text)


def says(text: str) -> Step:
    return Step("answer", text)


def runs(command: str, output: str = "", *, fails: bool = False) -> Step:
    return Step("use", output, "Bash", {"command": command}, fails)


def edits(path: str, old: str, new: str) -> Step:
    given = {"file_path": f"{FOLDER}/{path}", "old_string": old, "new_string": new}
    return Step("use", f"The file {FOLDER}/{path} has been updated.", "Edit", given)


def reads(path: str, text: str, *, by_sub_agent: bool = False) -> Step:
    return Step("use", text, "Read", {"file_path": f"{FOLDER}/{path}"}, is_of_sub_agent=by_sub_agent)


def is_asked(question: str, answer: str, *others: str) -> Step:
    options = [{"label": label} for label in (answer, *others)]
    return Step("use", f'User has answered your questions: "{question}"="{answer}".', "AskUserQuestion",
                {"questions": [{"question": question, "options": options}]}, answers={question: answer})  # fmt: skip


FAILURE = "FAILED tests/test_basket.py::test_late - AssertionError: 0 != 3\n1 failed, 11 passed in 0.31s"
STORY: tuple[Step, ...] = (
    asks("The basket is empty after a restart of the server, find out why."),
    reads("shop/basket.py", "def basket(request):\n    return store[request.cookies['sid']]"),
    runs("pytest -q tests/test_basket.py", f"Exit code 1\n{FAILURE}", fails=True),
    reads("shop/store.py", "store = {}"),
    says("The basket lives in a dict of the process, shop/store.py, so a restart loses it."),
    asks("Where should it be kept then?"),
    is_asked("Which store should keep the baskets?", "SQLite", "Redis", "A cookie"),
    says("We decided to keep baskets in SQLite, in var/baskets.db, because one machine serves the shop."),
    asks("Do it."),
    edits("shop/store.py", "store = {}", "store = SqliteDict('var/baskets.db')"),
    runs("pip install sqlitedict", "error: externally-managed-environment", fails=True),
    runs("uv add sqlitedict", "Resolved 24 packages\n + sqlitedict==2.1.0"),
    runs("pytest -q tests/test_basket.py", "12 passed in 0.40s"),
    says("Baskets are kept in var/baskets.db now; the tests pass. Packages are added by uv add, pip is refused here."),
    asks("No, never write to var/, that folder is deleted at each deploy. Use data/ instead."),
    edits("shop/store.py", "var/baskets.db", "data/baskets.db"),
    runs("pytest -q tests/test_basket.py", "12 passed in 0.41s"),
    says("The database is data/baskets.db now. var/ is deleted at each deploy."),
    asks("From now on always run `make check` before you say that something is done."),
    runs("make check", "make: *** No rule to make target 'check'.  Stop.", fails=True),
    runs("ls", "Makefile\ndata\nshop\ntests"),
    runs("make lint test", "ruff: All checks passed!\n12 passed"),
    says("There is no target check; make lint test does both. I run it before I say that something is done."),
    asks("Right, it is `make lint test`. Which port does the shop use in development?"),
    reads("shop/settings.py", "PORT = 8421\nDEBUG = True"),
    says("The shop listens on port 8421 in development, see PORT in shop/settings.py."),
    asks("The checkout times out with more than 50 articles."),
    reads("shop/checkout.py", "for article in basket:\n    price(article)"),
    runs("pytest -q tests/test_checkout.py -k many", "Exit code 1\nE   TimeoutError: 30 s\n1 failed", fails=True),
    runs("python -m cProfile -s cumtime scripts/checkout.py | head", "51 calls of price, 0.6 s each"),
    edits("shop/checkout.py", "for article in basket:\n    price(article)", "prices = price_all(basket)"),
    runs("pytest -q tests/test_checkout.py -k many", "1 passed in 0.9s"),
    runs("make lint test", "ruff: All checks passed!\n14 passed"),
    says("The checkout asked for each price alone, 0.6 s each; shop/checkout.py asks for all prices at once now."),
    asks("Search where else we ask for prices one by one."),
    reads("shop/wishlist.py", "for article in wishlist:\n    price(article)", by_sub_agent=True),
    reads("shop/feed.py", "prices = price_all(feed)", by_sub_agent=True),
    says("The wishlist, shop/wishlist.py, asks for each price alone as well; the feed does not."),
    asks("Mend it, and please write commit messages in the imperative."),
    edits("shop/wishlist.py", "for article in wishlist:\n    price(article)", "prices = price_all(wishlist)"),
    runs("make lint test", "ruff: All checks passed!\n15 passed"),
    runs("git commit -qam 'Ask for all prices of a wishlist at once'", ""),
    says("The wishlist asks for all prices at once. Commit messages are in the imperative."),
    asks("The deploy fails on the machine with Python 3.11."),
    runs("python3.11 -m compileall -q shop", "SyntaxError: f-string: expecting '}' (feed.py, line 12)", fails=True),
    edits("shop/feed.py", 'f"{names["a"]}"', "f\"{names['a']}\""),
    runs("python3.11 -m compileall -q shop", ""),
    says(
        "Quotes inside of an f-string need Python 3.12; shop/feed.py uses the other kind now, as the deploy has 3.11."
    ),
    asks("Why do we not use Redis for sessions?"),
    says(
        "Because one machine serves the shop, and Redis would be a second service to run; see the decision on baskets."
    ),
    asks("We get a second machine next month, so let us move the baskets from SQLite to Redis after all."),
    edits("shop/store.py", "SqliteDict('data/baskets.db')", "RedisDict(os.environ['REDIS_URL'])"),
    runs("uv add redis", "Resolved 25 packages\n + redis==6.4.0"),
    runs("pytest -q tests/test_basket.py", "Exit code 1\nredis.exceptions.ConnectionError: Error 111", fails=True),
    runs("docker compose up -d redis", "Container shop-redis-1  Started"),
    runs("make lint test", "ruff: All checks passed!\n15 passed"),
    says(
        "Baskets moved from SQLite to Redis, since two machines will share them. Tests need docker compose up -d redis."
    ),
    asks("Thanks, that is all."),
    says("You are welcome."),
)


def moments(began_at: datetime) -> list[datetime]:
    """The times of the steps in the transcript."""
    return [began_at + timedelta(seconds=7 * number) for number in range(1, len(STORY) + 1)]


def call_id(number: int) -> str:
    return f"toolu_01{number:022d}"


def claude_hooks(began_at: datetime, steps: range | None = None) -> Iterator[tuple[Json, datetime]]:
    """Each hook's input and time, a little later than the step's time in the transcript. ``steps``: only these."""
    yield {"hook_event_name": "SessionStart", "source": "startup", "session_id": SESSION, "cwd": FOLDER}, began_at
    for number in steps or range(len(STORY)):
        step, at = STORY[number], moments(began_at)[number] + timedelta(milliseconds=180)
        yield {**_claude_hook(step, number), "session_id": SESSION, "cwd": FOLDER}, at


def _claude_hook(step: Step, number: int) -> Json:
    if step.kind == "prompt":
        return {"hook_event_name": "UserPromptSubmit", "prompt": step.text}
    if step.kind == "answer":
        return {"hook_event_name": "Stop", "last_assistant_message": step.text}
    use = {"tool_name": step.tool, "tool_input": step.given, "tool_use_id": call_id(number)}
    if step.fails:
        return {"hook_event_name": "PostToolUseFailure", **use, "error": step.text}
    return {"hook_event_name": "PostToolUse", **use, "tool_response": _claude_response(step)}


def _claude_response(step: Step) -> Any:
    if step.answers:
        return {**step.given, "answers": step.answers}
    if step.tool == "Bash":
        return {"stdout": step.text, "stderr": "", "interrupted": False, "isImage": False}
    if step.tool == "Edit":
        return {"filePath": step.given["file_path"], "oldString": step.given["old_string"], "userModified": False}
    return {"type": "text", "file": {"filePath": step.given["file_path"], "content": step.text}}


def write_claude_history(user: Path, began_at: datetime) -> None:
    """Write the transcript and the sub-agent's transcript."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for number, (step, at) in enumerate(zip(STORY, moments(began_at), strict=True)):
        for place, fields in enumerate(_claude_lines(step, number)):
            own = {
                "uuid": f"u{number}-{place}", "sessionId": SESSION, "cwd": FOLDER, "isSidechain": step.is_of_sub_agent,
                "timestamp": at.isoformat().replace("+00:00", "Z"),
            }  # fmt: skip  # as short as it gets
            lines[step.is_of_sub_agent].append(json.dumps({**own, **fields}) + "\n")
    path = user / ".claude" / "projects" / "-src-shop" / f"{SESSION}.jsonl"
    (path.parent / SESSION / "subagents").mkdir(parents=True)
    path.write_text("".join(lines[False]))
    (path.parent / SESSION / "subagents" / "agent-a1.jsonl").write_text("".join(lines[True]))


def _claude_lines(step: Step, number: int) -> Iterator[Json]:
    if step.kind == "prompt":
        yield {"type": "user", "message": {"role": "user", "content": step.text}}
        return
    reply = {"id": f"msg_{number}", "role": "assistant"}
    if step.kind == "answer":
        content = [{"type": "text", "text": step.text}]
        yield {"type": "assistant", "message": {**reply, "content": content, "stop_reason": "end_turn"}}
        return
    use = {"type": "tool_use", "id": call_id(number), "name": step.tool, "input": step.given}
    yield {"type": "assistant", "message": {**reply, "content": [use], "stop_reason": None}}
    result = {"type": "tool_result", "tool_use_id": call_id(number), "content": step.text, "is_error": step.fails}
    response = f"Error: {step.text}" if step.fails else _claude_response(step)
    yield {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": response}


def kiro_hooks(began_at: datetime, steps: range | None = None) -> Iterator[tuple[Json, datetime]]:
    """Like ``claude_hooks``, for Kiro CLI, which has no question tool and no files of sub-agents."""
    yield {"hook_event_name": "agentSpawn", "session_id": SESSION, "cwd": FOLDER}, began_at
    for number in steps or range(len(STORY)):
        step, at = STORY[number], moments(began_at)[number] + timedelta(milliseconds=180)
        yield {**_kiro_hook(step), "session_id": SESSION, "cwd": FOLDER}, at


def _kiro_hook(step: Step) -> Json:
    if step.kind == "prompt":
        return {"hook_event_name": "userPromptSubmit", "prompt": step.text}
    if step.kind == "answer":
        return {"hook_event_name": "stop", "assistant_response": step.text}
    response = {"success": True, "result": [_kiro_result(step)]}
    return {"hook_event_name": "postToolUse", "tool_name": _kiro_tool(step), "tool_input": step.given,
            "tool_response": response}  # fmt: skip  # short


def _kiro_tool(step: Step) -> str:
    return {"Bash": "shell", "Read": "fs_read", "Edit": "fs_write"}.get(step.tool, step.tool)


def _kiro_result(step: Step) -> Any:
    if step.tool != "Bash":
        return step.text
    return {"exit_status": "exit status: 1" if step.fails else "exit status: 0", "stdout": step.text, "stderr": ""}


def write_kiro_history(user: Path, began_at: datetime) -> None:
    folder = user / ".kiro" / "sessions" / "cli"
    folder.mkdir(parents=True)
    about = {"session_id": SESSION, "cwd": FOLDER, "created_at": began_at.isoformat()}
    (folder / f"{SESSION}.json").write_text(json.dumps(about))
    lines = []
    for number, (step, at) in enumerate(zip(STORY, moments(began_at), strict=True)):
        for place, (kind, block) in enumerate(_kiro_lines(step, number)):
            data = {"message_id": f"m{number}-{place}", "content": [block], "meta": {"timestamp": at.timestamp()}}
            lines.append(json.dumps({"version": "v1", "kind": kind, "data": data}) + "\n")
    (folder / f"{SESSION}.jsonl").write_text("".join(lines))


def _kiro_lines(step: Step, number: int) -> Iterator[tuple[str, Json]]:
    if step.kind != "use":
        yield "Prompt" if step.kind == "prompt" else "AssistantMessage", {"kind": "text", "data": step.text}
        return
    use = {"toolUseId": call_id(number), "name": _kiro_tool(step), "input": step.given}
    yield "AssistantMessage", {"kind": "toolUse", "data": use}
    shown = {"kind": "json" if step.tool == "Bash" else "text", "data": _kiro_result(step)}
    result = {"toolUseId": call_id(number), "status": "success", "content": [shown]}
    yield "ToolResults", {"kind": "toolResult", "data": result}
