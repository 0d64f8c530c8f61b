"""Do the official clients from npm list and call everything, in both protocol eras and over both transports?

The clients are the TypeScript SDK's and the Inspector's command line. Install them before, in any folder:
``npm install @modelcontextprotocol/client @modelcontextprotocol/inspector`` (the Inspector needs node 22). The Python
SDK is part of the tests (``tests/integration/mcp/test_python_sdk.py``).

    python benchmarks/mcp_clients.py --modules FOLDER/node_modules [--node NODE]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ERAS = ("legacy", "auto")
SCRIPT = Path(__file__).with_suffix(".mjs")
INSPECTOR = Path("@modelcontextprotocol/inspector/clients/launcher/build/index.js")
COMMAND = (sys.executable, "-m", "kiro_learn", "mcp")
SECONDS = 60
SETTINGS = {"SERVER_PORT": "0", "LLM_BACKEND": "extractive", "EMBEDDING_ENABLED": "false", "HOME": ""}
"""The daemon's settings. Its home is a temporary folder."""


class Failed(Exception):
    """A client did not do what it was asked to do."""


def run(command: Sequence[str], folder: Path) -> Any:
    """The last line of the command's output, or all of it, as JSON."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise Failed(f"exit {done.returncode}: {(done.stderr or done.stdout)[-400:]}")
    try:
        return json.loads(done.stdout)
    except ValueError:
        return json.loads(done.stdout.strip().splitlines()[-1])


def with_sdk(node: str, modules: Path, folder: Path, era: str, target: Sequence[str]) -> str:
    # Node looks for modules next to the script, so the script is copied next to them.
    script = modules.parent / SCRIPT.name
    shutil.copy(SCRIPT, script)
    found = run([node, str(script), era, *target], folder)
    return f"{found['version']}: {found['called']} of {found['tools']} tools, {found['resources']} resources"


class Inspector:
    """The Inspector's command line, which calls one method in each process."""

    def __init__(self, node: str, modules: Path, folder: Path, era: str, target: Sequence[str]) -> None:
        self._command = [node, str(modules / INSPECTOR), "--cli", "--protocol-era", era, "-q"]
        self._target = target
        self._folder = folder

    def ask(self, method: str, *arguments: str) -> Any:
        return run([*self._command, "--method", method, *arguments, *self._target], self._folder)

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        if result.get("isError"):
            raise Failed(f"{tool}: {result}")
        return result["structuredContent"]

    def use_everything(self) -> str:
        tools = {tool["name"] for tool in self.ask("tools/list", "--strict")["tools"]}
        saved = self.call("save_observation", title="Zebras are striped", narrative="Seen at the zoo.")
        self.call("store_knowledge", knowledge_type="constraint", title="No visits", content="Too dear.")
        self.call("save_session_summary", task="Look at zebras")
        self.call("search_memory", query="zebras")
        self.call("get_memories", ids=[saved["id"]])
        self.call("timeline", around=saved["id"])
        self.call("recall_context", prompt="Why are zebras striped?")
        edited = self.call("edit_memory", id=saved["id"], title="Zebras have stripes")
        self.call("forget_memory", id=edited["id"])
        resources = self.ask("resources/list")["resources"]
        self.ask("resources/read", "--uri", resources[0]["uri"])
        self.ask("resources/templates/list")
        self.ask("prompts/list")
        self.ask("prompts/get", "--prompt-name", "remember", "--prompt-args", "what=zebras")
        return f"9 of {len(tools)} tools, {len(resources)} resources"


def results(node: str, modules: Path, home: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """The name of each trial, and its result."""
    url = f"http://{(home / 'daemon.address').read_text().strip()}/mcp?project={folder}"
    token = (home / "token").read_text().strip()
    header = ("--transport", "http", "--header", f"Authorization: Bearer {token}")
    # The Inspector passes only few of its environment variables to a server.
    ours = [each for name in SETTINGS for each in ("-e", f"KIRO_LEARN_{name}={os.environ[f'KIRO_LEARN_{name}']}")]
    for era in ERAS:
        for kind, sdk, inspector in (
            ("stdio", ("stdio", *COMMAND), (*ours, "--", *COMMAND)),
            ("http", ("http", url, token), ("--server-url", url, *header)),
        ):
            yield f"TypeScript SDK, {era}, {kind}", attempt(partial(with_sdk, node, modules, folder, era, sdk))
            cli = Inspector(node, modules, folder, era, inspector)
            yield f"Inspector, {era}, {kind}", attempt(cli.use_everything)


def attempt(work: Callable[[], str]) -> str:
    try:
        return f"passed  {work()}"
    except (Failed, subprocess.TimeoutExpired, ValueError, KeyError) as error:
        return f"FAILED  {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=Path, required=True)
    parser.add_argument("--node", default="node")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home, folder = Path(place, "home"), Path(place, "project")
        (folder / ".git").mkdir(parents=True)
        os.environ |= {f"KIRO_LEARN_{name}": value for name, value in {**SETTINGS, "HOME": str(home)}.items()}
        command = [sys.executable, "-m", "kiro_learn"]
        subprocess.run([*command, "start"], check=True, stdout=subprocess.DEVNULL)
        try:
            found = list(results(arguments.node, arguments.modules.resolve(), home, folder))
        finally:
            subprocess.run([*command, "stop"], check=True, stdout=subprocess.DEVNULL)
    for what, how in found:
        print(f"{what:32}{how}")
    return int(any(how.startswith("FAILED") for _, how in found))


if __name__ == "__main__":
    sys.exit(main())
