"""Screens of what was learned besides memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kiro_learn.frontends.cli import graph_screen
from kiro_learn.frontends.cli.terminal import Terminal

HOLDS = {"valid_from": "2026-01-02T10:00:00.000000Z", "valid_until": None}
FACT: dict[str, Any] = {
    "id": "fa_01M85VG5V5ZMWRN0V5WMVRB6GB",
    "kind": "facts",
    "subject": "web-shop",
    "predicate": "deployed_on",
    "object": "Fly",
    "is_candidate": False,
    "validity": HOLDS,
    "evidence": [{}],
}
ENDED = FACT | {"object": "Heroku", "validity": {"valid_until": "2026-03-01T09:00:00.000000Z"}}
WRONG = FACT | {"object": "Fly.io", "validity": HOLDS | {"retired_at": "2026-03-01T09:00:00.000000Z"}}
POSSIBLE = FACT | {"object": "Render", "is_candidate": True}
WAY = {
    "id": "pr_01M85VG5V5ZMWRN0V5WMVRB6GD",
    "kind": "procedures",
    "name": "Release",
    "steps": ["bump the version", "tag it, sign it, and wait until the pipeline has built every package", "push"],
    "superseded_by": "pr_01M85VG5V5ZMWRN0V5WMVRB6GE",
}
WISH = {
    "id": "pf_01M85VG5V5ZMWRN0V5WMH938HD",
    "kind": "preferences",
    "category": "workflow",
    "value": "Run the linter,\nthen \x1b[31mthe tests",
    "validity": HOLDS,
    "evidence": [{}, {}],
}
SHOP = {"id": "en_01M85VG5V5ZMWRN0V5WMVRB6G4", "kind": "entities", "name": "web-shop", "type": "project"}

GRAPH_SCREENS: dict[str, tuple[Callable[[Terminal], list[str]], str]] = {
    "items of the graph": (
        lambda terminal: [
            *graph_screen.rows([FACT, ENDED, WRONG, POSSIBLE, WAY, WISH, SHOP], terminal._replace(is_interactive=True)),
            *graph_screen.listed([SHOP], "entities", "web-shop", terminal, is_more=True),
        ],
        """\
…VRB6GB  web-shop deployed on Fly
…VRB6GB  web-shop deployed on Heroku  (until 2026-03-01)
…VRB6GB  web-shop deployed on Fly.io  (never true)
…VRB6GB  web-shop deployed on Render  (possibly)
…VRB6GD  Release: bump the version → tag it, sign it, and wait unti…  (replaced)
…H938HD  workflow: Run the linter, then �[31mthe tests
…VRB6G4  web-shop (project)
1 entity of web-shop · more: --limit""",
    ),
    "one item of the graph": (
        lambda terminal: graph_screen.item(WISH, terminal),
        """\
workflow: Run the linter, then �[31mthe tests
  category          workflow
  value             Run the linter,
                    then �[31mthe tests
  valid from        2026-01-02T10:00:00.000000Z
  id                pf_01M85VG5V5ZMWRN0V5WMH938HD
2 events support it""",
    ),
    "forgetting an entity": (
        lambda terminal: graph_screen.to_forget("entities", SHOP["id"], SHOP, terminal),
        """\
Forget 1 entity
  goes   …VRB6G4  web-shop (project)
         and all that names it
  stays  the events that it was learned from""",
    ),
    "forgetting a fact whose row is damaged": (
        lambda terminal: graph_screen.to_forget("facts", FACT["id"], None, terminal),
        """\
Forget 1 fact
  goes   …VRB6GB  (its row cannot be read)
  stays  the events that it was learned from""",
    ),
}
