"""Shipped libraries are the reviewed ones, with licences, and neither make requests nor run text as code."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from scripts import vendor_viewer

NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML", "http://www.w3.org/1999/xhtml"}
"""URLs that are only names of kinds of elements, and are never requested."""
FETCHES = {"sigma.min.js"}
"""A library that may fetch images of nodes. The viewer has none, and the policy refuses all foreign ones."""
CALLS = re.compile(r"\beval\(|new Function|XMLHttpRequest|sendBeacon|WebSocket|importScripts|\bfetch\(")
ROW = re.compile(r"^\| (\S+) \| (\S+) (\S+), `\S+` \| (\S+) \| `(\w+)` \| `(\w+)` \|$", re.MULTILINE)


def shipped(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in {".js", ".css"})


@pytest.mark.parametrize("folder", [vendor_viewer.VENDOR, vendor_viewer.TESTS], ids=lambda path: path.parts[-3])
def test_each_file_has_the_digest_the_version_and_the_licence_that_are_written_down(folder: Path) -> None:
    rows = ROW.findall((folder / "VENDOR.md").read_text("utf-8"))
    assert [row[0] for row in sorted(rows)] == [path.name for path in shipped(folder)]
    pinned = {(each.name, each.version, each.licence, each.sha256) for each in vendor_viewer.PACKAGES}
    for name, package, version, licence, of_package, of_file in rows:
        assert (package, version, licence, of_package) in pinned
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == of_file, name
        assert (folder / f"{package}.LICENSE").stat().st_size > 1000


@pytest.mark.parametrize("path", shipped(vendor_viewer.VENDOR), ids=lambda path: path.name)
def test_no_library_calls_out_or_makes_code_of_text(path: Path) -> None:
    text = re.sub(r"^/\*!.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    assert set(re.findall(r"https?://[\w./-]+", text)) <= NAMESPACES
    assert set(CALLS.findall(text)) <= ({"fetch("} if path.name in FETCHES else set())


def test_a_change_that_does_not_fit_the_original_is_refused() -> None:
    taken = vendor_viewer.Taken("a.js", "a.js", before="1;", after="3;\n", replaced=(("old", "new"),))
    assert taken.text("old\n//# sourceMappingURL=a.map\n") == "1;new\n3;\n"
    with pytest.raises(ValueError, match="0 times"):
        taken.text("other")
