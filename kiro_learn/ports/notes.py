"""A folder of Markdown files: folders in it, and files in these; nothing below, and nothing outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class NotesFolder(Protocol):
    """Names are relative, as ``folder/file.md``; no link is followed. Every method may raise OSError."""

    def index(self) -> bytes | None:
        """What ``write_index`` kept; None if it never did."""

    def write_index(self, content: bytes) -> None:
        """Keep what is to be known of the files, on the disk when it returns, with all that was written before."""

    def is_empty(self) -> bool:
        """Whether nothing is there, or not even the folder."""

    def paths(self) -> Iterator[str]:
        """Every Markdown file that is not hidden, also one that is a link or lies in no folder, in order."""

    def read(self, path: str, *, most_bytes: int) -> bytes | None:
        """All of a file; None if there is none. Raises OSError: it is a link, no file, or longer than that."""

    def write(self, path: str, content: bytes) -> None:
        """Put ``content`` in the place of a file, as a whole; a link that is there is replaced and not followed."""

    def remove(self, path: str) -> None:
        """Remove a file if it is there, and its folder if nothing else is in it."""
