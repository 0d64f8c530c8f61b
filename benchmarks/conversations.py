"""Conversations between two people (LoCoMo), as events of a person who talks to an agent.

Each speaker of each conversation has a project: the speaker's turns are prompts, and the other person's turns are the
answers of an agent. Captions of images are left out, since nobody said them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ulid import ULID

from kiro_learn.model.event import Event, EventKind, Source, TextBody
from kiro_learn.model.ids import EventId
from kiro_learn.model.namespace import namespace_of

_CAPTION = re.compile(r"\s*\[image: [^\]]*\]?")
_BETWEEN_TURNS = timedelta(seconds=10)
"""The time between two turns, since the data gives only the beginning of a session."""


def conversations_in(folder: Path) -> Iterator[tuple[str, list[Event]]]:
    """The name and the events of each speaker's project. Conversations are in the order of the collection."""
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    turns = [json.loads(line) for line in lines if line.strip()]
    for group, of_group in itertools.groupby(turns, key=lambda turn: str(turn["group"])):
        said = list(of_group)
        for speaker in sorted({_speaker(turn) for turn in said}):
            name = f"{group}-{speaker}"
            yield name, list(_events(name, speaker, said))


def _events(name: str, speaker: str, turns: list[dict[str, Any]]) -> Iterator[Event]:
    dice = random.Random(name)
    for session, of_session in itertools.groupby(turns, key=lambda turn: str(turn["session"])):
        for number, turn in enumerate(of_session):
            at = began(turn) + number * _BETWEEN_TURNS
            text = _CAPTION.sub("", turn["text"].partition(": ")[2]).strip()
            if text:
                yield Event(
                    event_id=EventId(str(ULID.from_bytes(int(at.timestamp() * 1000).to_bytes(6) + dice.randbytes(10)))),
                    session_id=session,
                    actor_id="eval",
                    namespace=namespace_of("eval", hashlib.sha256(name.encode()).hexdigest()),
                    schema_version=1,
                    kind=EventKind.PROMPT if _speaker(turn) == speaker else EventKind.SESSION_SUMMARY,
                    body=TextBody(text),
                    valid_time=at,
                    source=Source(surface="kiro-cli", version="1", client_id="eval", project_path=f"/eval/{name}"),
                )


def _speaker(turn: dict[str, Any]) -> str:
    return str(turn["text"].partition(": ")[0])


def began(turn: dict[str, Any]) -> datetime:
    """The time when the session of a turn began."""
    return datetime.strptime(turn["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
