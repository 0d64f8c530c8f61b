"""A scripted ACP agent that does what its first argument names.

It is plain on purpose, and shares no code with the client that it tests.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ANSWER = (
    '<memory_record type="decision" events="1"><title>Use pnpm</title><summary>Never npm.</summary></memory_record>'
)
BAD_WORD = "unspeakable"
LONG = "x" * 3_000_000
GRANDCHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def hear() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    heard: dict[str, Any] = json.loads(line)
    return heard


def begin() -> int:
    """Open the session; returns the id of the prompt's request."""
    asked = hear()
    say({"id": asked["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    asked = hear()
    assert Path(asked["params"]["cwd"]).is_absolute()
    say({"id": asked["id"], "result": {"sessionId": "s-1"}})
    number = hear()["id"]
    assert isinstance(number, int)
    return number


def chunk(text: str, session: str = "s-1", kind: str = "agent_message_chunk") -> None:
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    say({"method": "session/update", "params": {"sessionId": session, "update": update}})


def end(number: int, reason: str = "end_turn") -> None:
    say({"id": number, "result": {"stopReason": reason}})


def ok() -> None:
    number = begin()
    chunk("thinking", kind="agent_thought_chunk")
    chunk(ANSWER[:20])
    chunk("not yours", session="s-2")
    chunk(ANSWER[20:])
    end(number)


def thinks() -> None:
    """Sends its thoughts as if they were its answer, with a draft of an answer among them."""
    number = begin()
    chunk("<think>\nFirst I try " + ANSWER.replace("Use pnpm", "Use yarn") + "\n</thi")
    chunk("nk>\n\n" + ANSWER)
    end(number)


def banner() -> None:
    sys.stdout.write("Welcome to the agent!\n\n{not json}\n[1, 2]\n")
    ok()


def permission() -> None:
    number = begin()
    options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    say({"id": "p", "method": "session/request_permission", "params": {"sessionId": "s-1", "options": options}})
    chunk(json.dumps(hear()["result"]))
    say({"id": 9, "method": "fs/read_text_file", "params": {"sessionId": "s-1", "path": "/etc/passwd"}})
    chunk(str(hear()["error"]["code"]))
    end(number)


def stderr() -> None:
    number = begin()
    sys.stderr.write("e" * 500_000)
    sys.stderr.flush()
    chunk("after the flood")
    end(number)


def long_line() -> None:
    number = begin()
    chunk(LONG)
    end(number)


def dies() -> None:
    begin()
    chunk("half an ans")
    sys.stderr.write("out of memory\n")
    sys.stderr.flush()
    os._exit(3)


def is_killed() -> None:
    begin()
    os.kill(os.getpid(), signal.SIGKILL)


def dies_leaving_a_grandchild() -> None:
    """Dies, but its child inherits the pipes and keeps them open."""
    leave_a_grandchild()
    begin()
    os._exit(3)


def hangs_up() -> None:
    begin()
    os.close(1)
    time.sleep(600)


def hangs() -> None:
    begin()
    time.sleep(600)


def deaf() -> None:
    """Ignores SIGTERM, and so does its child."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    leave_a_grandchild()
    begin()
    time.sleep(600)


def never_reads() -> None:
    while True:
        say({"id": 9, "method": "fs/read_text_file", "params": {}})


def garbage() -> None:
    while hear():
        os.write(1, b"\xff\xfe\x00{{{{\n" + b"[" * 200_000 + b"\n")


def endless_line() -> None:
    hear()
    while True:
        os.write(1, b"x" * 65536)


def version_two() -> None:
    say({"id": hear()["id"], "result": {"protocolVersion": 2}})
    time.sleep(600)


def stopped_early() -> None:
    number = begin()
    chunk("half an answ")
    end(number, "max_tokens")


def logged_out() -> None:
    say({"id": hear()["id"], "result": {"protocolVersion": 1}})
    say({"id": hear()["id"], "error": {"code": -32000, "message": "the prompt's own words"}})
    time.sleep(600)


def environment() -> None:
    number = begin()
    chunk(json.dumps({name: os.environ.get(name) for name in ("KIRO_LEARN_INTERNAL", "KEPT")}))
    end(number)


def fires_our_hook() -> None:
    """Reports its prompt to the daemon, like an agent with our hooks."""
    number = begin()
    payload = json.dumps({"hook_event_name": "userPromptSubmit", "cwd": "/w", "prompt": "from within"}).encode()
    done = subprocess.run([sys.argv[2], "kiro-cli"], input=payload, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    chunk(ANSWER)
    end(number)


def echo() -> None:
    """Answers with the prompt."""
    say({"id": hear()["id"], "result": {"protocolVersion": 1}})
    say({"id": hear()["id"], "result": {"sessionId": "s-1"}})
    asked = hear()
    chunk(asked["params"]["prompt"][0]["text"])
    end(asked["id"])


def picky() -> None:
    """Learns word for word, but refuses a prompt with a bad word, in the way that its second argument names.

    While the folder of its third argument has a file "sick", it refuses everything. It notes each call in that folder.
    """
    say({"id": hear()["id"], "result": {"protocolVersion": 1}})
    say({"id": hear()["id"], "result": {"sessionId": "s-1"}})
    asked = hear()
    prompt, folder = asked["params"]["prompt"][0]["text"], Path(sys.argv[3])
    with (folder / "calls").open("a", encoding="ascii") as calls:
        calls.write(f"{time.time()}\n")
    if (folder / "sick").exists():
        os._exit(3)
    if BAD_WORD in prompt:
        if sys.argv[2] == "hangs":
            time.sleep(600)
        chunk("I cannot help with that.")
    else:
        chunk(words_of(prompt))
    end(asked["id"])


def words_of(prompt: str) -> str:
    """A record for each answer in the prompt that ends a turn, titled with its words."""
    answers = re.findall(r'<event number="(\d+)" kind="session_summary"[^>]*>\s*<text>(.*?)</text>', prompt, re.DOTALL)
    record = '<memory_record type="discovery" events="{}"><title>{}</title><summary>{}</summary></memory_record>'
    return "".join(record.format(number, text, text) for number, text in answers) or "<skip/>"


def says() -> None:
    """Answers every prompt with the file that the second argument names."""
    number = begin()
    chunk(Path(sys.argv[2]).read_text(encoding="utf-8"))
    end(number)


def leave_a_grandchild() -> None:
    grandchild = subprocess.Popen([sys.executable, "-c", GRANDCHILD])
    Path(os.environ["GRANDCHILD_FILE"]).write_text(str(grandchild.pid), encoding="ascii")


if __name__ == "__main__":
    behaviour: Callable[[], None] = globals()[sys.argv[1]]
    behaviour()
