"""context --graph: the block of the whole memory for a prompt, or why each line of it is told."""

from __future__ import annotations

from typing import Any

from kiro_learn.client import json_calls
from kiro_learn.frontends.cli import activity_texts, graph_texts, projects, search_screen
from kiro_learn.frontends.cli.amounts import counted
from kiro_learn.frontends.cli.shell import Shell
from kiro_learn.frontends.cli.terminal import Terminal, plain

FACTORS = {"recency", "importance", "confidence"}
"""What a score is multiplied by; everything else is added."""


def show(
    shell: Shell,
    prompt: str,
    project: str,
    *,
    profile: str,
    passages: bool,
    tokens: int | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Print the block on standard output, and what it has cost below it."""
    with shell.client() as client:
        place = projects.called(client, project)
        call = json_calls.context(
            client, prompt, profile=profile, tokens=tokens, passages=passages, project=place.spelled
        )
        found = client.body_of(call)
    if as_json:
        shell.print_json(found)
        return
    shell.say(search_screen.partial_answer(found["degraded"], shell.err))
    if explain:
        shell.print(_explained(found, shell.out))
    elif found["context"]:
        shell.print([plain(line) for line in found["context"].splitlines()])
    else:
        room = counted(found["budget"], *activity_texts.TOKENS)
        shell.say([graph_texts.NOTHING_TOLD.format(project=place.name, tokens=room)])


def _explained(found: dict[str, Any], terminal: Terminal) -> list[str]:
    query = found["query"]
    entities = ", ".join(plain(entity["name"]) for entity in query["entities"])
    asked = graph_texts.ASKED.format(
        intent=query["intent"].replace("_", " "),
        words=plain(" ".join(query["keywords"])) or graph_texts.NOTHING,
        entities=entities or graph_texts.NOTHING,
    )
    lines = [terminal.dim(asked)]
    for item in found["items"]:
        score = terminal.dim(f"    {item['score']:.4f} = {_formula(item['parts'])}")
        lines += [*map(plain, item["text"].splitlines()), score]
    total = graph_texts.TOKENS.format(tokens=found["tokens"], budget=found["budget"])
    return [*lines, terminal.dim(total)]


def _formula(parts: dict[str, float]) -> str:
    """As ``(keyword 0.0159 + graph 0.0200) * confidence 0.90``."""
    added = [f"{name} {value:.4f}" for name, value in parts.items() if name not in FACTORS]
    factors = [f"{name} {value:.2f}" for name, value in parts.items() if name in FACTORS]
    total = " + ".join(added)
    return " * ".join([f"({total})" if len(added) > 1 and factors else total, *factors])
