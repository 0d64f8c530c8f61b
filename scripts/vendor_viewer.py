"""Brings the viewer's libraries from the packages that their authors published, in the form that browsers load.

``python scripts/vendor_viewer.py`` writes them to the viewer's folder ``vendor``, each with its licence, and VENDOR.md;
``--check`` changes nothing and fails if what is there is not what the packages give. It needs ``npm``; users do not,
and nor does building the wheel. A package whose digest is not the pinned one is refused.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
VENDOR = ROOT / "kiro_learn/frontends/viewer/files/vendor"
TESTS = ROOT / "tests/viewer/vendor"

_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)


class Taken(NamedTuple):
    """A file of a package, its name here, and the changes that are made to it."""

    source: str
    name: str
    before: str = ""
    after: str = ""
    replaced: tuple[tuple[str, str], ...] = ()

    def text(self, original: str) -> str:
        """The text to ship. Raises ValueError: the original is not the one that the change was written for."""
        text = _SOURCE_MAP.sub("", original)
        for old, new in self.replaced:
            if text.count(old) != 1:
                raise ValueError(f"{self.source} has {old!r} {text.count(old)} times")
            text = text.replace(old, new)
        return f"{self.before}{text.rstrip()}\n{self.after}"


class Package(NamedTuple):
    """A published package at a version, the digest of its archive, and the files that are taken from it."""

    name: str
    version: str
    sha256: str
    licence: str
    licence_file: str
    taken: Sequence[Taken]
    folder: Path = VENDOR


PACKAGES = (
    Package(
        "preact",
        "11.2.0",
        "3c4456766bd32b6b534d52bf4e9c2a29b33e7eedf6e96ed479300ba1a7888ebf",
        "MIT",
        "LICENSE",
        (
            Taken("dist/preact.mjs", "preact.js"),
            Taken("hooks/dist/hooks.mjs", "preact-hooks.js", replaced=(('from"preact"', 'from"./preact.js"'),)),
        ),
    ),
    Package(
        "htm",
        "3.1.1",
        "2425b9bee11409177bcabc7f32e319926fc6690c1701c0b257c88bdff2d5ba90",
        "Apache-2.0",
        "LICENSE",
        (Taken("dist/htm.mjs", "htm.js"),),
    ),
    Package(
        "uplot",
        "1.6.32",
        "4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d",
        "MIT",
        "LICENSE",
        (
            Taken("dist/uPlot.iife.min.js", "uplot.js", after="export default uPlot;\n"),
            Taken("dist/uPlot.min.css", "uplot.css"),
        ),
    ),
    Package(
        "sigma",
        "3.0.3",
        "ff467677a066c06ef81a2b66cde421a26cd629ef5321e4c08742b69c8d32a9bb",
        "MIT",
        "LICENSE.txt",
        (Taken("dist/sigma.min.js", "sigma.min.js"),),
    ),
    Package(
        "graphology",
        "0.26.0",
        "3c0cc63556e32b9d00ea953dce29790a5e49fc448f19247e25540156caef6b98",
        "MIT",
        "LICENSE.txt",
        (Taken("dist/graphology.umd.min.js", "graphology.umd.min.js"),),
    ),
    Package(
        "graphology-layout-forceatlas2",
        "0.10.1",
        "62ea434a9a478807390062fbd7ded2647794d04a71bd3708cff85b9a4ea53c7e",
        "MIT",
        "LICENSE.txt",
        (
            Taken(
                "iterate.js",
                "forceatlas2-iterate.js",
                before="const module = {exports: {}};\n",
                after="export default module.exports;\n",
            ),
        ),
    ),
    Package(
        "axe-core",
        "4.14.1",
        "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745",
        "MPL-2.0",
        "LICENSE",
        (Taken("axe.min.js", "axe.min.js"),),
        TESTS,
    ),
)

HEAD = """# Libraries of others

Written by `scripts/vendor_viewer.py`, which says what is changed in each file; `--check` derives them again from the
published packages. The licence of each stands beside it as `PACKAGE.LICENSE`.

| file | of | licence | sha256 of the package | sha256 of the file |
|---|---|---|---|---|
"""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--check", action="store_true", help="change nothing; fail if something differs")
    is_check: bool = asked.parse_args().check
    derived = dict(derive())
    if is_check:
        wrong = [path.name for path, text in derived.items() if not path.exists() or path.read_bytes() != text]
        sys.exit(f"not what the packages give: {', '.join(wrong)}" if wrong else 0)
    for path, text in derived.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        print(path.relative_to(ROOT), len(text))


def derive() -> Iterator[tuple[Path, bytes]]:
    """Every file that is shipped, from its package."""
    rows: dict[Path, str] = {}
    for package in PACKAGES:
        original = fetched(package)
        yield package.folder / f"{package.name}.LICENSE", original[package.licence_file]
        for taken in package.taken:
            content = taken.text(original[taken.source].decode()).encode()
            yield package.folder / taken.name, content
            of = f"{package.name} {package.version}"
            digest = hashlib.sha256(content).hexdigest()
            row = f"| {taken.name} | {of}, `{taken.source}` | {package.licence} | `{package.sha256}` | `{digest}` |\n"
            rows[package.folder] = rows.get(package.folder, "") + row
    for folder, table in rows.items():
        yield folder / "VENDOR.md", (HEAD + table).encode()


def fetched(package: Package) -> dict[str, bytes]:
    """The files of a package's archive, which must have the pinned digest."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
            raise ValueError(f"{package.name} {package.version} is not the package that was looked at")
        with tarfile.open(archive) as content:
            opened = [(member.name.partition("/")[2], content.extractfile(member)) for member in content]
            return {name: file.read() for name, file in opened if file is not None}


if __name__ == "__main__":
    main()
