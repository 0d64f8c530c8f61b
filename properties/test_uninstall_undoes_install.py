"""For any agents' files: installing keeps their content, twice is the same as once, and uninstalling undoes it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kiro_learn.agent_files.json_edits import parse, with_additions
from kiro_learn.agent_files.layouts import Addition
from kiro_learn.testing.machine import HOOK, USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS
from properties.agent_configs import texts

PROJECT = USER / "shop"
FOLDERS = (USER, PROJECT)
FILES = (
    ".kiro/agents/mine.json",
    ".kiro/agents/kiro-learn.json",
    ".kiro/hooks/kiro-learn.json",
    ".kiro/settings/mcp.json",
    ".kiro/settings/cli.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
)
TOML = st.sampled_from(
    [
        "",
        "model = 'o3'",
        "# mine\r\n[features]\r\nx = true\r\n",
        "[[hooks.Stop]]\nhooks = []\n",
        "hooks = {}\n",
        "a = [",
    ]
)
TREES = st.dictionaries(
    st.sampled_from([str(folder / file) for folder in FOLDERS for file in FILES]), texts(), max_size=4
)
MCP = ("/usr/bin/kiro-learn", "mcp")
NEWER = ("/opt/kiro-learn", "mcp")


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    tree = dict(draw(TREES))
    if draw(st.booleans()):
        tree[str(draw(st.sampled_from(FOLDERS)) / ".codex/config.toml")] = draw(TOML)
    return tree


def install(files: InMemoryAgentFiles, in_project: bool, mcp: tuple[str, ...] = MCP) -> dict[str, str]:
    installation = installation_of(files, mcp=mcp)
    plan = installation.plan(tuple(AGENTS), project=PROJECT if in_project else None)
    assert installation.carry_out(plan) == ()
    return dict(files.texts)


def uninstall(files: InMemoryAgentFiles, mcp: tuple[str, ...] = MCP) -> None:
    installation = installation_of(files, mcp=mcp)
    plan = installation.plan_removal()
    assert plan.problems == ()
    assert installation.carry_out(plan) == ()


@given(tree=trees(), in_project=st.booleans())
def test_uninstall_undoes_install_to_the_byte(tree: dict[str, str], in_project: bool) -> None:
    files = InMemoryAgentFiles(dict(tree))
    once = install(files, in_project)
    assert install(files, in_project) == once
    newer = install(files, in_project, NEWER)
    assert {path: text.replace("/usr/bin/", "/opt/") for path, text in once.items()} == newer
    assert install(files, in_project) == once
    uninstall(files)
    assert (files.texts, files.folders, files.kept_manifest) == (tree, set(), None)


@given(tree=trees())
def test_what_was_there_is_still_read_as_before(tree: dict[str, str]) -> None:
    installed = install(InMemoryAgentFiles(dict(tree)), in_project=False)
    for path, text in tree.items():
        if path.endswith(".json") and text.strip("\ufeff \r\n\t"):
            assert _holds(parse(installed[path]).plain(), parse(text).plain()), path


@given(tree=trees(), in_project=st.booleans())
def test_what_others_add_afterwards_stays(tree: dict[str, str], in_project: bool) -> None:
    files = InMemoryAgentFiles(dict(tree))
    installed = install(files, in_project)
    changed = [path for path, text in installed.items() if tree.get(path) != text and path.endswith(".json")]
    for path in changed:
        files.texts[path] = with_additions(installed[path], [Addition((), [1], key="later")]).text
    uninstall(files)
    for path in changed:
        left = parse(files.texts[path]).plain()
        assert isinstance(left, dict)
        assert left.pop("later") == [1]
        before = parse(tree[path]).plain() if tree.get(path, "").strip("\ufeff \r\n\t") else {}
        assert HOOK not in files.texts[path]
        assert _holds(left, before)


def _holds(whole: Any, part: Any) -> bool:
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _holds(whole[key], value) for key, value in part.items())
    if isinstance(whole, list) and isinstance(part, list):
        return whole[: len(part)] == part
    return bool(whole == part)
