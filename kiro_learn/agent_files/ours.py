"""Which entries of an agent's JSON file are ours, and the text without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from kiro_learn.agent_files.commands import SERVER_NAME, Recognition
from kiro_learn.agent_files.json_edits import Node, NotJson, at, parse, without_entry
from kiro_learn.agent_files.layouts import AddedMember

Step = str | int


def without_ours(text: str, ours: Recognition, *, added: Sequence[AddedMember] = (), and_emptied: bool = False) -> str:
    """``text`` without our hooks, our server, and the members ``added`` that still have the value they were given.

    Args:
      and_emptied: also remove lists and objects that this leaves empty, if no manifest says who made them.

    Raises:
      NotJson: the text is no JSON.
    """
    while True:
        path = next(_our_entries(parse(text), ours, added), None)
        if path is None:
            return text
        text = without_entry(text, path)
        while and_emptied and len(path) > 1 and _is_blank(text, path := path[:-1]):
            text = without_entry(text, path)


def _is_blank(text: str, path: Sequence[Step]) -> bool:
    """Whether the list or the object at ``path`` is empty and has no comment in it."""
    node = at(parse(text), path)
    assert node is not None
    return not text[node.start + 1 : node.end - 1].strip()


def without_empty(text: str, made: Collection[tuple[str, ...]]) -> str:
    """``text`` without the objects and lists at the paths ``made`` that are empty."""
    for path in sorted(made, key=len, reverse=True):
        node = at(parse(text), path)
        if node is not None and node.kind != "scalar" and not node.members and not node.elements:
            text = without_entry(text, path)
    return text


def our_entries(text: str, ours: Recognition, added: Sequence[AddedMember] = ()) -> Counter[tuple[str, ...]]:
    """How many of our entries ``text`` has under each path of names, as ``("hooks", "Stop")``, anywhere in the list
    there.

    Raises:
      NotJson: the text is no JSON.
    """
    paths = set(_our_entries(parse(text), ours, added))
    return Counter(tuple(_names(path)) for path in paths)


def _names(path: Sequence[Step]) -> Iterator[str]:
    """The names in a path before its first index of a list."""
    for step in path:
        if not isinstance(step, str):
            return
        yield step


def is_empty(text: str) -> bool:
    """Whether ``text`` is an empty object, with nothing around it."""
    return "".join(text.split()).strip("\N{ZERO WIDTH NO-BREAK SPACE}") == "{}"


def _our_entries(root: Node, ours: Recognition, added: Sequence[AddedMember]) -> Iterator[tuple[Step, ...]]:
    hooks = root.get("hooks")
    if hooks is not None:
        for index, hook in enumerate(hooks.elements):
            if _runs_ours(hook.get("action") or hook, ours):
                yield ("hooks", index)
        for place, event in enumerate(hooks.members):
            # If a name occurs twice, only its last member is found by the name.
            step = event.key if hooks.get(event.key) is event.value else place
            for path in _our_hooks(event.value, ours):
                yield ("hooks", step, *path)
    servers = root.get("mcpServers")
    server = servers.get(SERVER_NAME) if servers else None
    if server is not None and ours.runs_server(server.plain()):
        yield ("mcpServers", SERVER_NAME)
    for member in added:
        found = at(root, (*member.path, member.key))
        if found is not None and found.plain() == member.value:
            yield (*member.path, member.key)


def _our_hooks(entries: Node, ours: Recognition) -> Iterator[tuple[Step, ...]]:
    """Our entries in the list of one event: hooks, or groups of hooks. A group with hooks of others loses only ours."""
    for index, entry in enumerate(entries.elements):
        inner = entry.get("hooks")
        if inner is None:
            if _runs_ours(entry, ours):
                yield (index,)
            continue
        found = [number for number, hook in enumerate(inner.elements) if _runs_ours(hook, ours)]
        if found and len(found) == len(inner.elements):
            yield (index,)
        elif found:
            yield (index, "hooks", found[0])


def _runs_ours(hook: Node, ours: Recognition) -> bool:
    command = hook.get("command")
    return command is not None and isinstance(command.value, str) and ours.runs_hook(command.value)


def is_same_but_for_hooks(text: str, made: str) -> bool:
    """Whether ``text`` is the same agent as ``made``, apart from its hooks."""
    try:
        found, wanted = parse(text).plain(), parse(made).plain()
    except NotJson:
        return False
    if not isinstance(found, dict) or not isinstance(wanted, dict):
        return False
    return {**found, "hooks": None} == {**wanted, "hooks": None}
