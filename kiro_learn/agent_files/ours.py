"""Which entries of an agent's JSON file are ours, and the text without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from kiro_learn.agent_files.commands import SERVER_NAME, IsOurs
from kiro_learn.agent_files.json_edits import without_entry
from kiro_learn.agent_files.jsonc import Node, parse
from kiro_learn.agent_files.manifest import AddedMember

Step = str | int


def without_ours(text: str, is_ours: IsOurs, *, added: Sequence[AddedMember] = ()) -> str:
    """``text`` without our hooks, our server, and the members ``added`` that still have the value they were given.

    Raises:
      NotJson: it is none.
    """
    while True:
        path = next(_our_entries(parse(text), is_ours, added), None)
        if path is None:
            return text
        text = without_entry(text, path)


def without_empty(text: str, made: Collection[tuple[str, ...]]) -> str:
    """``text`` without those objects and lists at the paths ``made`` that are empty."""
    for path in sorted(made, key=len, reverse=True):
        node: Node | None = parse(text)
        for name in path:
            node = None if node is None else node.get(name)
        if node is not None and node.kind != "scalar" and not node.members and not node.elements:
            text = without_entry(text, path)
    return text


def our_entries(text: str, is_ours: IsOurs, added: Sequence[AddedMember] = ()) -> Counter[tuple[str, ...]]:
    """How many entries are ours under each name of ``text``, as ``("hooks", "Stop")``, wherever in the list there.

    Raises:
      NotJson: it is none.
    """
    paths = set(_our_entries(parse(text), is_ours, added))
    return Counter(tuple(_names(path)) for path in paths)


def _names(path: Sequence[Step]) -> Iterator[str]:
    """Those before the first place in a list."""
    for step in path:
        if not isinstance(step, str):
            return
        yield step


def is_empty(text: str) -> bool:
    """Whether ``text`` is an object without members."""
    root = parse(text)
    return root.kind == "object" and not root.members


def _our_entries(root: Node, is_ours: IsOurs, added: Sequence[AddedMember]) -> Iterator[tuple[Step, ...]]:
    hooks = root.get("hooks")
    if hooks is not None:
        for index, hook in enumerate(hooks.elements):
            if _runs_ours(hook.get("action") or hook, is_ours):
                yield ("hooks", index)
        for place, event in enumerate(hooks.members):
            # Of a name that stands there twice, only the last is found by it.
            step = event.key if hooks.get(event.key) is event.value else place
            for path in _our_hooks(event.value, is_ours):
                yield ("hooks", step, *path)
    servers = root.get("mcpServers")
    server = servers.get(SERVER_NAME) if servers else None
    if server is not None and _is_our_server(server):
        yield ("mcpServers", SERVER_NAME)
    for member in added:
        holder: Node | None = root
        for name in member.path:
            holder = None if holder is None else holder.get(name)
        found = None if holder is None else holder.get(member.key)
        if found is not None and found.plain() == member.value:
            yield (*member.path, member.key)


def _our_hooks(entries: Node, is_ours: IsOurs) -> Iterator[tuple[Step, ...]]:
    """In the list of one event: hooks, or groups of them; a group that others share loses only what is ours."""
    for index, entry in enumerate(entries.elements):
        inner = entry.get("hooks")
        if inner is None:
            if _runs_ours(entry, is_ours):
                yield (index,)
            continue
        ours = [number for number, hook in enumerate(inner.elements) if _runs_ours(hook, is_ours)]
        if ours and len(ours) == len(inner.elements):
            yield (index,)
        elif ours:
            yield (index, "hooks", ours[0])


def _runs_ours(hook: Node, is_ours: IsOurs) -> bool:
    command = hook.get("command")
    return command is not None and isinstance(command.value, str) and is_ours(command.value)


def _is_our_server(server: Node) -> bool:
    """Whether it runs ``kiro-learn mcp`` in any of its forms, or the server of the first kiro-learn."""
    command, arguments = server.get("command"), server.get("args")
    name = PurePosixPath(command.value).name if command is not None and isinstance(command.value, str) else ""
    words = [each.value for each in arguments.elements] if arguments is not None else []
    return name == "mcp-server" or (words[-1:] == ["mcp"] and (name == "kiro-learn" or "kiro_learn" in words))
