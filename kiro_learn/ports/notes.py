"""The port to a folder of notes: Markdown files, each directly in a subfolder; nothing deeper, and nothing outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class NotesFolder(Protocol):
    """Reads and writes notes. Names are relative, as ``folder/file.md``; no link is followed. Every method may raise
    OSError.
    """

    def index(self) -> bytes | None:
        """The content that ``write_index`` kept; None if there is none."""

    def write_index(self, content: bytes) -> None:
        """Keep what is known about the files. It is on the disk when this returns, with all that was written before."""

    def is_empty(self) -> bool:
        """Whether the folder is empty or missing."""

    def paths(self) -> Iterator[str]:
        """Every Markdown file that is not hidden, in order; also a link, and a file that is in no subfolder."""

    def read(self, path: str, *, most_bytes: int) -> bytes | None:
        """The whole file; None if there is none. Raises OSError: a link, no file, or longer than ``most_bytes``."""

    def write(self, path: str, content: bytes) -> None:
        """Write ``content`` as the whole file, in one piece; a link in its place is replaced, not followed."""

    def remove(self, path: str) -> None:
        """Remove a file if it exists, and its folder if that is then empty."""
