"""A lazy agent, as a real process, learns again: constraints stay, and a bad ratio is shown first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.cli.command_line import done, event
from tests.integration.cli.terminal import at_terminal
from tests.integration.cli.test_relearn import NAMESPACE, PROJECT_ID, RULES, WORDS_ONLY, agent, relearn, serving, titles

TURNS = [
    (f"Why is the {part} page slow?", f"The {part} page is slow because its {part}_index is read from end to end.")
    for part in ("cart", "search", "order", "login", "stock", "price")
]
ONE_LINE = (
    '<memory_record type="session_summary"><title>Work was done</title><summary>On the shop.</summary></memory_record>'
)


def learned(home: Path, *, rules: int, turns: int) -> set[str]:
    """Fill a home with memories that were learned without a model; returns their titles."""
    with serving(home, WORDS_ONLY) as client:
        number = 10
        for rule in RULES[:rules]:
            client.post_event({**event(NAMESPACE, "/w/web-shop", number, rule), "session_id": f"s{number}"})
            number += 1
        for asked, answered in TURNS[:turns]:
            for kind, text in (("prompt", asked), ("session_summary", answered)):
                told = event(NAMESPACE, "/w/web-shop", number, text)
                client.post_event({**told, "kind": kind, "session_id": f"t{asked}"[:20]})
                number += 1
        client.flush(PROJECT_ID)
        return set(titles(client))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def lazy(tmp_path: Path) -> dict[str, str]:
    """The settings with which an agent learns that writes one line for everything."""
    answer = tmp_path / "answer"
    answer.write_text(ONE_LINE, encoding="utf-8")
    return agent("says", str(answer))


def test_two_rules_and_four_memories_are_not_one_line_afterwards(home: Path, lazy: dict[str, str]) -> None:
    weak = learned(home, rules=2, turns=4)
    assert len(weak) == 6
    with serving(home, lazy) as client:
        answer = json.loads(done(relearn(home, "--yes", "--json")))
        left = set(titles(client))
    rules = {title for title in weak if "pnpm" in title or "commit" in title}
    counts = tuple(answer[name] for name in ("records", "replaced", "protected", "left"))
    assert counts == (1, 4, 0, 0), "a rule that comes again as it was is neither new nor replaced"
    assert left == rules | {"Work was done"}


def test_a_bad_ratio_stops_and_shows_and_asks(home: Path, lazy: dict[str, str]) -> None:
    weak = learned(home, rules=0, turns=6)
    with serving(home, lazy) as client:
        shown = done(relearn(home, "--dry-run"))
        assert "about 1 call" in shown
        assert all(title[:40] in shown for title in weak)
        code, lines = at_terminal(home, "relearn", "--project", "web-shop", typed="y\nn\n")
        assert (code, set(titles(client))) == (1, weak)
        assert any("tells 6 memories in 1" in line for line in lines)
        assert any("6 memories would be replaced by 1" in line for line in lines)
        code, lines = at_terminal(home, "relearn", "--project", "web-shop", typed="y\ny\n")
        assert (code, set(titles(client))) == (0, {"Work was done"})


def test_without_a_terminal_only_yes_replaces_much_by_little(home: Path, lazy: dict[str, str]) -> None:
    weak = learned(home, rules=0, turns=6)
    with serving(home, lazy) as client:
        stopped: dict[str, object] = client.relearn(PROJECT_ID)
        assert (stopped["replaced"], stopped["left"]) == (0, 6)
        assert set(titles(client)) == weak
        assert json.loads(done(relearn(home, "--yes", "--json")))["replaced"] == 6


def test_what_was_forgotten_is_not_told_to_an_agent_nor_kept_from_it(home: Path, tmp_path: Path) -> None:
    """The agent would repeat the forgotten rule, so it is no longer shown the rule's turn."""
    weak = learned(home, rules=2, turns=1)
    (rule,) = [title for title in weak if "pnpm" in title]
    answer = tmp_path / "again"
    answer.write_text(
        ONE_LINE + ONE_LINE.replace("Work was done", rule).replace("On the shop.", rule), encoding="utf-8"
    )
    with serving(home, agent("says", str(answer))) as client:
        client.forget(titles(client)[rule])
        before = json.loads(done(relearn(home, "--dry-run", "--json")))
        assert before["events"] == 3, "one event of the other rule, two of the turn"
        assert rule not in {each["title"] for each in before["memories"]}
        done(relearn(home, "--yes"))
        told = event(NAMESPACE, "/w/web-shop", 90, "What else is there to know about the shop?")
        client.post_event({**told, "session_id": "later"})
        client.flush(PROJECT_ID)
        assert rule not in titles(client)
        assert "Work was done" in titles(client)
