"""Several homes are installed into the same files and removed in any order: the files are as the user left them."""

from __future__ import annotations

from pathlib import PurePosixPath

from hypothesis import example, given
from hypothesis import strategies as st

from kiro_learn.testing.machine import USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agents import AGENTS
from properties.test_uninstall_undoes_install import MCP, trees

HOMES = (USER / ".kiro-learn", PurePosixPath("/srv/b"), PurePosixPath("/mnt/o'brien $x"))
Act = tuple[PurePosixPath, tuple[str, ...]]


@st.composite
def acts(draw: st.DrawFn) -> list[Act]:
    """Installations of some agents each, some of them repeated; then the removal of all homes."""
    some = st.sets(st.sampled_from(sorted(AGENTS)), min_size=1).map(lambda names: tuple(sorted(names)))
    made = draw(st.lists(st.tuples(st.sampled_from(HOMES), some), min_size=2, max_size=4))
    removals = draw(st.permutations(sorted({home for home, _ in made})))
    return [*made, *((home, ()) for home in removals)]


KIRO = ("kiro-cli",)
EMPTY_LIST = {str(USER / ".kiro/agents/mine.json"): '{"hooks":{"stop":[]}}'}
TWO = [(HOMES[0], KIRO), (HOMES[1], KIRO)]


@example(tree=EMPTY_LIST, done=[*TWO, (HOMES[0], ()), (HOMES[1], ())], edited_before=1)
@example(tree=EMPTY_LIST, done=[*TWO, (HOMES[1], ()), (HOMES[0], ())], edited_before=1)
@given(tree=trees(), done=acts(), edited_before=st.integers(0, 8))
def test_every_file_is_as_the_user_has_it(tree: dict[str, str], done: list[Act], edited_before: int) -> None:
    files, manifests, wanted = InMemoryAgentFiles(dict(tree)), dict[str, str](), dict(tree)
    for number, (home, agents) in enumerate(done):
        if number == edited_before:
            wanted = {path: edited(path, text) for path, text in tree.items()}
            files.texts |= {path: edited(path, files.texts[path]) for path, text in tree.items() if not is_blank(text)}
        own = str(home / "manifest.json")
        files.kept_manifest = manifests.pop(own, None)
        files.texts |= manifests
        variables = {} if home == HOMES[0] else {"KIRO_LEARN_HOME": str(home)}
        installation = installation_of(files, hook=f"{home}/bin/hook", mcp=MCP, mcp_environment=variables)
        plan = installation.plan(agents) if agents else installation.plan_removal()
        assert installation.carry_out(plan) == ()
        for path in manifests:
            del files.texts[path]
        manifests |= {own: files.kept_manifest} if files.kept_manifest is not None else {}
    assert (files.texts, files.folders, manifests) == (wanted, set(), {})


def edited(path: str, text: str) -> str:
    """``text`` with a comment of the user's at its beginning; unchanged if it is no document yet."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    comment = "# mine\n" if path.endswith(".toml") else "// mine\n"
    return text if is_blank(text) else mark + comment + text.removeprefix(mark)


def is_blank(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")
