"""The official Python SDK's client lists and calls everything, in both eras and over both transports."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon_process import DaemonProcess
from tests.integration.mcp.stdio_client import environment_of, stop_daemon

anyio: Any = pytest.importorskip("anyio")
client_module: Any = pytest.importorskip("mcp.client.client")
stdio_module: Any = pytest.importorskip("mcp.client.stdio")
http_module: Any = pytest.importorskip("mcp.client.streamable_http")
clients_module: Any = pytest.importorskip("mcp.shared._httpx_utils")

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25"}


async def use_everything(client: Any) -> None:
    """Call everything. The SDK checks each tool's structured content by its output schema."""
    tools = (await client.list_tools()).tools
    called: set[str] = set()

    async def call(tool: str, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        called.add(tool)
        return result.structured_content

    saved = await call(
        "save_observation", title="Zebras are striped", narrative="Seen at the zoo.", files_read=["a.py"]
    )
    await call("store_knowledge", knowledge_type="constraint", title="No visits", content="Too dear.", severity="hard")
    await call("save_session_summary", task="Look at zebras", next_steps="Count them")
    assert saved["id"] in {each["id"] for each in (await call("search_memory", query="zebras"))["memories"]}
    assert (await call("get_memories", ids=[saved["id"]]))["memories"]
    assert (await call("timeline", around=saved["id"]))["memories"]
    await call("recall_context", prompt="Why are zebras striped?")
    await call("judge_memory", id=saved["id"], feedback="helped")
    assert (await call("pin_memory", id=saved["id"]))["pinned"]
    edited = await call("edit_memory", id=saved["id"], title="Zebras have stripes")
    assert (await call("forget_memory", id=edited["id"]))["forgotten"]
    fact = await call("add_fact", predicate="default_branch", object="trunk")
    await call("add_fact", preference="Always count the zebras", about="counting")
    assert [each["id"] for each in (await call("look_up_facts"))["items"]] == [fact["id"]]
    corrected = await call("correct_fact", id=fact["id"], object="main")
    assert (await call("forget_fact", id=corrected["id"]))["forgotten"]
    assert called == {tool.name for tool in tools}
    wrong = await client.call_tool("search_memory", {"query": ""})
    assert wrong.is_error

    listed = (await client.list_resources()).resources
    for resource in listed:
        assert (await client.read_resource(resource.uri)).contents
    assert {resource.uri.split("/")[2] for resource in listed} == {"memory", "session"}
    assert len((await client.list_resource_templates()).resource_templates) == 2
    for prompt in (await client.list_prompts()).prompts:
        assert (await client.get_prompt(prompt.name, {})).messages


@pytest.mark.parametrize("mode", MODES)
def test_over_standard_input(tmp_path: Path, mode: str) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    (folder / ".git").mkdir(parents=True)

    async def scenario() -> None:
        server = stdio_module.StdioServerParameters(
            command=sys.executable, args=["-m", "kiro_learn", "mcp"], cwd=folder, env=environment_of(home)
        )
        async with client_module.Client(server, mode=mode, read_timeout_seconds=30) as client:
            assert client.protocol_version == MODES[mode]
            await use_everything(client)

    try:
        anyio.run(scenario)
    finally:
        stop_daemon(home)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path / "home", {"KIRO_LEARN_EMBEDDING_ENABLED": "false"})
    try:
        daemon.wait_ready()
        yield daemon
    finally:
        daemon.process.kill()
        daemon.process.communicate()


@pytest.mark.parametrize("mode", MODES)
def test_over_http(daemon: DaemonProcess, tmp_path: Path, mode: str) -> None:
    address = (daemon.home / "daemon.address").read_text().strip()
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)

    async def scenario() -> None:
        headers = {"Authorization": f"Bearer {(daemon.home / 'token').read_text().strip()}"}
        async with clients_module.create_mcp_http_client(headers=headers) as http_client:
            transport = http_module.streamable_http_client(
                f"http://{address}/mcp?project={project}&session=s", http_client=http_client
            )
            async with client_module.Client(transport, mode=mode, read_timeout_seconds=30) as client:
                assert client.protocol_version == MODES[mode]
                await use_everything(client)

    anyio.run(scenario)
