"""Lints the viewer's JavaScript and checks its types, by eslint and tsc as ``scripts/javascript`` pins them.

It needs ``npm``, which users and the wheel do not; where there is none, or where it cannot fetch these tools, this says
so and checks nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "scripts/javascript"
PROGRAMS = TOOLS / "node_modules/.bin"


def main() -> None:
    npm = shutil.which("npm")
    if npm is None:
        print("The viewer's JavaScript was not checked: there is no npm.")
        return
    install = [npm, "ci", "--no-audit", "--no-fund", "--fetch-retries=0", "--prefix", str(TOOLS)]
    if subprocess.run(install, cwd=ROOT, check=False).returncode:
        print("The viewer's JavaScript was not checked: npm could not fetch what checks it.")
        return
    commands: tuple[list[str | Path], ...] = (
        [PROGRAMS / "eslint", "--config", TOOLS / "eslint.config.js", "kiro_learn/frontends/viewer/files"],
        [PROGRAMS / "tsc", "--project", TOOLS],
    )
    for command in commands:
        ended = subprocess.run(command, cwd=ROOT, check=False)
        if ended.returncode:
            sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
