"""A scripted model server, a process of its own, that behaves as its first argument names.

It is plain on purpose, and shares no code with the client that it tests. It writes its port and its requests into the
folder of its second argument.
"""

from __future__ import annotations

import json
import sys
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ANSWER = (
    '<memory_record type="decision" events="1"><title>Use pnpm</title><summary>Never npm.</summary></memory_record>'
)
THOUGHT = "<think>\nMaybe " + ANSWER.replace("Use pnpm", "Use yarn") + "\n</think>\n\n"
LEARNED_WORDS = "Always use pnpm here, never npm."
"""Words of the event that the tests learn from, which the health check does not have."""
SMALL_CONTEXT = 20
"""The tokens of the context, unless a request asks for another size."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        count = self.note(None)
        if behaviour == "ollama_late" and count == 1:
            return self.say(503, {"error": "loading"})
        if behaviour.startswith("ollama") and self.path == "/api/version":
            return self.say(200, {"version": "0.12.6"})
        return self.say(404, {"error": "not found"})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        count = self.note(asked)
        if behaviour == "busy" and count == 1:
            return self.say(429, {"error": "later"}, {"Retry-After": "2"})
        if behaviour == "busy_until" and count == 1:
            return self.say(503, {"error": "later"}, {"Retry-After": formatdate(time.time() + 3, usegmt=True)})
        if behaviour == "busy_for_hours":
            return self.say(429, {"error": "later"}, {"Retry-After": "86400"})
        if behaviour.endswith("no_temperature") and "temperature" in json.dumps(asked):
            return self.say(400, {"error": {"message": "Unsupported value: 'temperature' does not support 0"}})
        prompt = asked["messages"][0]["content"]
        is_filtered = behaviour == "filters" and LEARNED_WORDS in prompt
        text = "" if is_filtered else THOUGHT + ANSWER if behaviour == "thinks" else ANSWER
        if self.path == "/api/chat":
            context = asked.get("options", {}).get("num_ctx", SMALL_CONTEXT)
            return self.say(200, native(text, min(len(prompt) // 4, context)))
        read = SMALL_CONTEXT if behaviour == "cuts" else len(prompt) // 4
        return self.say(200, completion(text, read, finish_reason="content_filter" if is_filtered else "stop"))

    def note(self, asked: Any) -> int:
        """Write down a request; returns its number among those of its path."""
        with log.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"path": self.path, "body": asked, "at": time.monotonic()}) + "\n")
        return sum(json.loads(line)["path"] == self.path for line in log.read_text(encoding="utf-8").splitlines())

    def say(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def completion(text: str, prompt_tokens: int, *, finish_reason: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    return {"choices": [choice], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 9}}


def native(text: str, prompt_tokens: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "thinking": "Maybe."}
    return {"message": message, "done": True, "done_reason": "stop", "prompt_eval_count": prompt_tokens}


if __name__ == "__main__":
    behaviour, folder = sys.argv[1], Path(sys.argv[2])
    log = folder / "asked"
    log.touch()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    (folder / "port.new").write_text(str(server.server_address[1]))
    (folder / "port.new").rename(folder / "port")
    server.serve_forever()
