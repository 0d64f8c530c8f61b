"""What a prompt asks for, as one text."""

from __future__ import annotations

import json

from kiro_learn.model.event import Body, MessageBody, TextBody


def query_text(body: Body) -> str:
    """The text to search for: a text as it stands, a conversation's last turn, any other JSON written compactly."""
    if isinstance(body, TextBody):
        return body.content
    if isinstance(body, MessageBody):
        return body.turns[-1].content
    return json.dumps(body.data, ensure_ascii=False, separators=(",", ":"))
