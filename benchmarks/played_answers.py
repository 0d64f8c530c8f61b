"""A played model: gives the answers that a reader wrote, in the place of a model, for prompts of four histories.

    python benchmarks/played_answers.py [--port 23000] [--answers FOLDER]

It is an OpenAI-compatible server on this machine, for ``--llm-url http://127.0.0.1:23000/v1`` of
benchmarks/real_prompts.py, with ``--prompt-tokens 24000``, for which the batches were cut. FOLDER has a file a history,
with a line for each answer: the digest of its batch, and the titles of the memories that the answer ends, by the
letters under which they were shown. The answer is given with the letters under which they are shown now. The judge's
questions are answered by "not the same". A batch without an answer is skipped: ``GET /`` says how many there were.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs

ANSWERS = Path(__file__).parent / "data" / "played"
DIGEST_CHARACTERS = 24
_BATCH = re.compile(r"<batch .*</batch>", re.DOTALL)
_KNOWN = re.compile(r'<memory id="([A-Z])" day="[^"]*">(.*?)</memory>')
_REPLACES = re.compile(r'replaces="([^"]*)"')
_LETTER = re.compile(r"\b[A-Z]\b")


@attrs.frozen
class Played:
    """One answer, and the memories' titles that its letters stand for."""

    answer: str
    known: Mapping[str, str]

    def for_prompt(self, prompt: str) -> str:
        """The answer with the letters of ``prompt``. Memories that the prompt does not show are left out."""
        letters = {html.unescape(title): letter for letter, title in _KNOWN.findall(prompt)}

        def put_anew(found: re.Match[str]) -> str:
            titles = (self.known.get(letter, "") for letter in _LETTER.findall(found.group(1)))
            return f'replaces="{" ".join(letters[title] for title in titles if title in letters)}"'

        return _REPLACES.sub(put_anew, self.answer)


def answers_in(folder: Path) -> dict[str, Played]:
    """The answers of all files, by the digest of the batch."""
    lines = (line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines())
    rows = map(json.loads, lines)
    return {row["batch"]: Played(row["answer"], row["known"]) for row in rows}


def answer_to(prompt: str, played: Mapping[str, Played], counts: Counter[str]) -> str:
    batch = _BATCH.search(prompt)
    if batch is None:
        counts["judge"] += 1
        return "<keep_separate/>"
    found = played.get(hashlib.sha256(batch.group().encode()).hexdigest()[:DIGEST_CHARACTERS])
    counts["missing" if found is None else "answered"] += 1
    return "<skip/>" if found is None else found.for_prompt(prompt)


def server(port: int, played: Mapping[str, Played], counts: Counter[str]) -> ThreadingHTTPServer:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

        def do_GET(self) -> None:
            self._send(200 if self.path == "/" else 404, counts)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = "\n".join(message["content"] for message in asked["messages"])
            said = {"role": "assistant", "content": answer_to(prompt, played, counts)}
            usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(said["content"]) // 4}
            self._send(200, {"choices": [{"index": 0, "finish_reason": "stop", "message": said}], "usage": usage})

        def _send(self, code: int, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return ThreadingHTTPServer(("127.0.0.1", port), Answering)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=23_000)
    parser.add_argument("--answers", type=Path, default=ANSWERS)
    options = parser.parse_args()
    with server(options.port, answers_in(options.answers), Counter()) as running, suppress(KeyboardInterrupt):
        running.serve_forever()


if __name__ == "__main__":
    main()
