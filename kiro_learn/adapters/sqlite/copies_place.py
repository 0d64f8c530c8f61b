"""Whether a folder of copies is the one in which copies were made before.

Where a disk is not mounted, its place is an empty folder of another disk, and a copy would go there without a word. So
the folder holds a file with an id, and the home a note of the same id. Each is made once the first copy is whole.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
from pathlib import Path

from kiro_learn.adapters.sqlite.connections import make_private

MARKER = "folder-id"
ID_BYTES = 16


def absence(folder: Path, home_folder: Path) -> str:
    """Why ``folder`` is not the one of before, with what to do; empty if it is, or if no copy was made in it.

    Raises:
      OSError: the marker or the note is there and cannot be read.
    """
    noted = _read(note_of(folder, home_folder))
    if not noted or _read(folder / MARKER) == noted:
        return ""
    return f"copies were made in {folder}, and they are not there now: mount its disk; until then nothing is written"


def remember(folder: Path, home_folder: Path) -> None:
    """Mark ``folder``, in which a copy is now, and note the mark in the home.

    Raises:
      OSError: one of them cannot be written.
      StorageUnavailable: one of them is no ordinary file.
    """
    note, marker = note_of(folder, home_folder), folder / MARKER
    if _read(note):
        return
    # What a kill leaves empty, or without its note, is completed by the next copy.
    found = _read(marker) or secrets.token_hex(ID_BYTES)
    for path in (marker, note):
        _write(path, found)


def begin_anew(folder: Path, home_folder: Path) -> str:
    """The command that lets copies begin anew in ``folder``."""
    return f"rm {shlex.quote(str(note_of(folder, home_folder)))}"


def note_of(folder: Path, home_folder: Path) -> Path:
    """One note for each folder that the settings have ever named."""
    return home_folder / f"folder-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]}"


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _write(path: Path, text: str) -> None:
    make_private(path)
    with path.open("w", encoding="ascii") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
