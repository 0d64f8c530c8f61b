"""What a tool is: its name, what a model is told of it, and the JSON Schemas of what goes in and comes out."""

from __future__ import annotations

from typing import Any, NamedTuple

from kiro_learn.wire.mcp.schema import Schema, text
from kiro_learn.wire.mcp.versions import knows_annotations, knows_titles

PROJECT = text(
    "Another project than the client's: an absolute folder, or a project's name or id. Leave it out for this one.",
    1,
    4096,
)


class Tool(NamedTuple):
    """One tool."""

    name: str
    title: str
    about: str
    takes: Schema
    gives: Schema
    is_read_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False

    def described(self, version: str) -> dict[str, Any]:
        """As ``tools/list`` of a revision has it."""
        described: dict[str, Any] = {"name": self.name, "description": self.about, "inputSchema": self.takes}
        if knows_titles(version):
            described |= {"title": self.title, "outputSchema": self.gives}
        if knows_annotations(version):
            described["annotations"] = {
                "title": self.title,
                "readOnlyHint": self.is_read_only,
                "destructiveHint": self.is_destructive,
                "idempotentHint": self.is_idempotent or self.is_read_only,
                "openWorldHint": False,
            }
        return described
