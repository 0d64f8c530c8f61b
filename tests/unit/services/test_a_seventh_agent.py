"""An agent is one value in one table, which is enough to install, serve, examine and uninstall a seventh agent."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

import attrs
import pytest

from kiro_learn.agent_files.layouts import Addition, MergedJson, Surroundings
from kiro_learn.model.event import EventKind, TextBody
from kiro_learn.testing.machine import HOOK, USER, InMemoryAgentFiles, installation_of
from kiro_learn.wire.agent import Agent, AnswerForm, Files
from kiro_learn.wire.agents import AGENTS
from kiro_learn.wire.hook_payload import answer_to
from kiro_learn.wire.hooks import read_hook

KINDS = {EventKind.NOTE, EventKind.PROMPT, EventKind.TOOL_USE, EventKind.SESSION_SUMMARY}
PATH = str(USER / ".seventh/hooks.json")
THEIRS = '{"theme": "dark"}\n'


def files_of_the_seventh(agent: Agent, around: Surroundings) -> Files:
    hooks = tuple(
        Addition(("hooks", event), {"command": around.commands.for_hook(agent.name)}) for event in agent.hooks
    )
    yield MergedJson(around.folder(agent.folder) / "hooks.json", hooks)


SEVENTH = Agent(
    name="seventh",
    title="The Seventh",
    programs=("seventh",),
    traces=(".seventh",),
    folder=".seventh",
    moved_by="SEVENTH_HOME",
    hooks={
        "begun": EventKind.NOTE,
        "asked": EventKind.PROMPT,
        "used": EventKind.TOOL_USE,
        "ended": EventKind.SESSION_SUMMARY,
    },
    answer=AnswerForm(lambda context, is_at_start: f"{is_at_start}: {context}", most=60),
    files=files_of_the_seventh,
)


@pytest.fixture(autouse=True)
def _seventh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "seventh", SEVENTH)


def installed() -> InMemoryAgentFiles:
    files = InMemoryAgentFiles({PATH: THEIRS})
    installation = installation_of(files)
    assert installation.carry_out(installation.plan(["seventh"])) == ()
    return files


def test_it_is_found_by_its_program() -> None:
    [found] = installation_of(InMemoryAgentFiles(), {"seventh": "7.1"}).found()
    assert (found.name, found.title, found.version) == ("seventh", "The Seventh", "7.1")


def test_its_hooks_are_read() -> None:
    [report] = read_hook("seventh", b'{"hook_event_name": "Asked", "prompt": "why?"}', {})
    assert (report.agent, report.body) == ("seventh", TextBody("why?"))


def test_it_is_answered_in_its_form_and_length() -> None:
    assert answer_to("seventh", "short", is_at_start=True) == "True: short"
    assert answer_to("seventh", "long" * 99).startswith("False: ")
    assert len(answer_to("seventh", "long" * 99)) == len("False: ") + 60


def test_its_files_are_written_and_given_back() -> None:
    files = installed()
    assert HOOK in files.texts[PATH]
    installation = installation_of(files)
    assert installation.carry_out(installation.plan_removal()) == ()
    assert files.texts == {PATH: THEIRS}


def test_its_folder_is_looked_for_where_the_variable_says() -> None:
    plan = installation_of(InMemoryAgentFiles(), environment={"SEVENTH_HOME": "/data/seventh"}).plan(["seventh"])
    assert [str(step.path) for step in plan.steps] == ["/data/seventh/hooks.json"]


def test_a_file_that_lost_our_entries_is_told() -> None:
    files = installed()
    files.texts[PATH] = THEIRS
    [fault] = installation_of(files, {"seventh": "7"}).inspection.report().faults
    assert (str(fault.path), fault.agents, fault.project) == (PATH, ("seventh",), None)


@pytest.mark.parametrize("project", [None, USER / "shop"])
def test_a_folder_of_several_parts_is_known_as_the_user_s_or_the_project_s(
    project: PurePosixPath | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(AGENTS, "seventh", attrs.evolve(SEVENTH, folder=".config/seventh"))
    files = InMemoryAgentFiles({str(USER / "shop/.git/HEAD"): ""})
    installation = installation_of(files, {"seventh": "7"})
    assert installation.carry_out(installation.plan(["seventh"], project=project)) == ()
    path = (project or USER) / ".config/seventh/hooks.json"
    files.texts[str(path)] = THEIRS
    [fault] = installation.inspection.report().faults
    assert (fault.path, fault.project) == (path, project)

    del files.texts[str(path)]
    files.folders.discard(str(path.parent))
    files.texts[str(path.parent.parent / "other/file")] = ""
    [fault] = installation_of(files).inspection.report().faults
    assert fault.is_of_a_removed_agent


def test_a_hook_of_it_that_was_pasted_by_hand_is_replaced() -> None:
    ours, others = "~/.kiro-learn/bin/hook seventh", "~/.kiro-learn/bin/hook eighth"
    pasted = {"hooks": {"asked": [{"command": ours}], "used": [{"command": others}]}}
    files = InMemoryAgentFiles({PATH: json.dumps(pasted)})
    installation = installation_of(files)
    assert installation.carry_out(installation.plan(["seventh"])) == ()
    assert ours not in files.texts[PATH]
    assert others in files.texts[PATH]


def test_a_field_that_is_forgotten_is_an_error() -> None:
    values = {field.name: getattr(SEVENTH, field.name) for field in attrs.fields(Agent)}
    optional = {"before_tool", "moved_by", "next_step", "rule_files", "shared_name", "user_rule_files"}
    for name in values.keys() - optional:
        with pytest.raises(TypeError, match=name):
            Agent(**{other: value for other, value in values.items() if other != name})


@pytest.mark.parametrize("agent", AGENTS.values(), ids=list(AGENTS))
def test_each_agent_s_files_report_every_kind_of_event(agent: Agent) -> None:
    """They report it by a hook that the agent has, under one of the agent's names."""
    assert {*agent.hooks.values()} == KINDS
    files = InMemoryAgentFiles()
    text = "".join(step.after or "" for step in installation_of(files).plan([agent.name]).steps)
    assert any(f"{HOOK} {name} " in text for name in (agent.name, agent.shared_name) if name)
    for kind in KINDS:
        assert any(f'"{hook}"' in text.lower() for hook, its in agent.hooks.items() if its is kind), kind
