"""The history that the demo tells: past sessions as events, dated into the last days.

Rules of this file: no file contains a secret, so the key in the history is made up when the file is read.
"""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import unquote

from kiro_learn.client import hook
from kiro_learn.frontends.cli.projects import Project
from kiro_learn.model.version import __version__

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
QUESTION = "Users get logged out again. Where did we put the token?"
OFF_TOPIC = "What should I cook tonight?"


class Scene(NamedTuple):
    """The project of the history, its folder, and the time of the demo."""

    project: Project
    folder: str
    now: datetime


class Chapter(NamedTuple):
    """One event of the history, and whether the short form of the demo shows it."""

    event: dict[str, Any]
    is_shown: bool


def chapters(scene: Scene) -> list[Chapter]:
    """The past sessions, oldest first."""
    text = resources.files("kiro_learn.frontends.cli").joinpath("demo_history.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.replace("{github_token}", _made_up_key()).splitlines()]
    return [Chapter(_event(scene, line, _body(line)), "shown" in line) for line in lines]


def prompt(scene: Scene, text: str) -> dict[str, Any]:
    """A question in a new session, on Friday."""
    line = {"session": "web-shop-3", "at": "Fri 09:15", "kind": "prompt"}
    return _event(scene, line, {"type": "text", "content": text})


def _event(scene: Scene, line: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    moment = _moment(line["at"], scene.now)
    namespace = scene.project.namespace
    return {
        "event_id": hook.new_ulid(int(moment.timestamp() * 1000)),
        "session_id": line["session"],
        "actor_id": unquote(namespace.split("/")[2]),
        "namespace": namespace,
        "schema_version": 1,
        "kind": line["kind"],
        "body": body,
        "valid_time": moment.isoformat(),
        "source": {
            "surface": "api",
            "version": __version__,
            "client_id": "kiro-learn demo",
            "project_path": scene.folder,
        },
    }


def _body(line: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json", "data": line["tool"]} if "tool" in line else {"type": "text", "content": line["text"]}


def _moment(at: str, now: datetime) -> datetime:
    """The time ``Mon 10:02`` in the week of the last Friday morning."""
    day, _, clock = at.partition(" ")
    hour, _, minute = clock.partition(":")
    friday = (now - timedelta(days=(now.weekday() - DAYS.index("Fri")) % 7)).replace(hour=12)
    if friday > now:
        friday -= timedelta(days=7)
    then = friday - timedelta(days=DAYS.index("Fri") - DAYS.index(day))
    return then.replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)


def _made_up_key() -> str:
    return "gh" + "p_" + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(36))


def captions(event: dict[str, Any]) -> Iterator[str]:
    """Two captions of a stored event: who did something, then what they did."""
    body = event["body"]
    yield "you" if event["kind"] == "prompt" else "agent"
    if body["type"] == "text":
        yield body["content"]
        return
    tool = body["data"]
    target = tool["tool_input"].get("command") or tool["tool_input"].get("file_path", "")
    yield f"{tool['tool_name']} {target}: {tool['tool_response']}"
