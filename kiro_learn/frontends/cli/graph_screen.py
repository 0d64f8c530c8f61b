"""Items of the graph as lines: a list, one item, and one that is to be forgotten."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from kiro_learn.client.building import Json
from kiro_learn.frontends.cli import texts
from kiro_learn.frontends.cli.record_ids import short
from kiro_learn.frontends.cli.terminal import Terminal, counted, cut, plain

ONE = {"entities": "entity", "facts": "fact", "procedures": "procedure", "preferences": "preference"}

DAY = 10
"""The length of the date at the beginning of a moment."""
FIELD_COLUMN = 18
LEAST_WIDTH = 20
"""The least characters for the text of an item, however narrow the terminal is."""


def said(item: Json) -> str:
    """What the item says, in a sentence of its kind."""
    match item["kind"]:
        case "facts":
            return f"{item['subject']} {item['predicate'].replace('_', ' ')} {item['object']}"
        case "procedures":
            return f"{item['name']}: {' → '.join(item['steps'])}"
        case "preferences":
            where = f" in {item['path']}" if item.get("path") else ""
            return f"{item['category']}{where}: {item['value']}"
        case _:
            return f"{item['name']} ({item['type']})"


def rows(items: Sequence[Json], terminal: Terminal) -> list[str]:
    """A line for each item: the end of its id, what it says, and why it does not hold. Cut only for a terminal."""
    begun = {item["id"]: item.get("created_at") for item in items}
    return [_row({**item, "ended_at": begun.get(item.get("superseded_by"))}, terminal) for item in items]


def listed(items: Sequence[Json], kind: str, project: str, terminal: Terminal, *, is_more: bool) -> list[str]:
    """The number of items that were listed."""
    line = f"{counted(len(items), ONE[kind], kind)} of {project}"
    return [terminal.dim(texts.DOT.join((line, texts.MORE_BY_LIMIT)) if is_more else line)]


def none_listed(kind: str, project: str, terminal: Terminal, *, is_narrowed: bool) -> list[str]:
    """That there are no items, and where they come from."""
    if is_narrowed:
        return [f"No {kind} of {project} match."]
    return [
        f"No {kind} are known of {project}.",
        terminal.dim("They are learned from prompts, if the setting graph.learn is true."),
    ]


def of_all_projects(count: int, kind: str, terminal: Terminal) -> list[str]:
    """The number of items for all projects, which are listed with the home folder."""
    said = f"{counted(count, ONE[kind], kind)} of all your projects: kiro-learn {kind} --project '~'"
    return [terminal.dim(f"and {said}")]


def item(shown: Json, terminal: Terminal) -> list[str]:
    """One item with all fields that people ask for."""
    head = [terminal.bold(line) for line in textwrap.wrap(_on_a_line(said(shown)) + _mark(shown), terminal.width)]
    fields = {name: value for name, value in shown.items() if name not in {"id", "kind", "evidence", "validity"}}
    fields |= shown.get("validity") or {}
    shown_fields = [(name, _shown(value)) for name, value in fields.items() if value] + [("id", shown["id"])]
    lines = [line for name, value in shown_fields for line in _field(name, value, terminal)]
    evidence = counted(len(shown["evidence"]), "event supports it", "events support it")
    return [*head, *lines, terminal.dim(evidence)]


def to_forget(kind: str, item_id: str, shown: Json | None, terminal: Terminal) -> list[str]:
    """What would be forgotten; ``shown`` is None if the item's row cannot be read."""
    what = texts.UNREADABLE if shown is None else cut(said(shown), terminal.width - 20)
    return [
        terminal.bold(f"Forget 1 {ONE[kind]}"),
        f"  {'goes':7}{short(item_id)}  {what}",
        *([f"  {'':7}and all that names it"] if kind == "entities" else []),
        f"  {'stays':7}the events that it was learned from",
    ]


def forgotten(kind: str, terminal: Terminal, *, is_copied: bool) -> Iterator[str]:
    """What was forgotten; ``is_copied``: there are backups, which it is not looked for in."""
    yield f"{terminal.mark('ok')} 1 {ONE[kind]} forgotten"
    if is_copied:
        how = f"{terminal.command('kiro-learn forget --secret')} removes a text from them too"
        yield f"{terminal.mark('warning')} Backups may still hold it until they make room; {how}"


def _row(item: Json, terminal: Terminal) -> str:
    left, mark, what = f"{short(item['id'])}  ", _mark(item), _on_a_line(said(item))
    if terminal.is_interactive:
        what = cut(what, max(LEAST_WIDTH, terminal.width - len(left) - len(mark)))
    return f"{terminal.dim(left)}{what}{terminal.dim(mark)}"


def _mark(item: Json) -> str:
    """Why the item does not hold; empty if it does."""
    validity = item.get("validity") or {}
    if validity.get("retired_at"):
        return "  (never true)"
    if end := validity.get("valid_until"):
        return f"  (until {end[:DAY]})"
    if item["kind"] == "procedures" and item.get("ended_at"):  # the next version is listed too
        return f"  ({item['created_at'][:DAY]} until {item['ended_at'][:DAY]})"
    if item.get("superseded_by"):
        return "  (replaced)"
    return "  (possibly)" if item.get("is_candidate") else ""


def _on_a_line(text: str) -> str:
    return plain(" ".join(text.split()))


def _field(name: str, value: str, terminal: Terminal) -> list[str]:
    """The name of a field, and its value next to it, line by line."""
    first = f"  {name.replace('_', ' '):{FIELD_COLUMN}}"
    width = max(LEAST_WIDTH, terminal.width - len(first))
    wrapped = [line for said in plain(value).splitlines() for line in textwrap.wrap(said, width)] or [""]
    return [terminal.dim(first) + wrapped[0], *(" " * len(first) + line for line in wrapped[1:])]


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
