from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kiro_learn.errors import ServiceError
from kiro_learn.model.settings import FileOrigin, ServiceState
from kiro_learn.services.autostart import Autostart, FileChange
from kiro_learn.testing.machine import ScriptedServiceManager


def installed(manager: ScriptedServiceManager) -> Autostart:
    autostart = Autostart(manager)
    autostart.carry_out(autostart.plan(), lambda _: None)
    return autostart


def test_an_installation_writes_the_file_and_starts_the_service() -> None:
    manager = ScriptedServiceManager()
    steps: list[str] = []
    autostart = Autostart(manager)
    autostart.carry_out(autostart.plan(), steps.append)
    assert manager.content == manager.definition()
    assert steps == ["write /services/kiro-learn", "start absent"]
    assert autostart.is_installed


def test_a_second_installation_does_nothing() -> None:
    manager = ScriptedServiceManager()
    assert installed(manager).plan().is_empty


def test_a_plan_alone_changes_nothing() -> None:
    manager = ScriptedServiceManager()
    Autostart(manager).plan()
    assert (manager.content, manager.ran) == (None, [])


def test_a_stopped_service_is_started_again_without_writing() -> None:
    manager = ScriptedServiceManager()
    autostart = installed(manager)
    manager.now = ServiceState.FAILED
    plan = autostart.plan()
    assert (plan.change, plan.then) == (FileChange.NONE, (("start", "failed"),))


def test_an_upgrade_replaces_the_file_of_before() -> None:
    manager = ScriptedServiceManager()
    autostart = installed(manager)
    manager.body = b"run the daemon better\n"
    assert autostart.plan().change is FileChange.REPLACE


def test_an_uninstallation_leaves_nothing() -> None:
    manager = ScriptedServiceManager()
    autostart = installed(manager)
    manager.ran.clear()
    autostart.carry_out(autostart.plan_removal(), lambda _: None)
    assert (manager.content, manager.ran) == (None, ["stop running", "forget"])
    assert autostart.plan_removal().is_empty


def test_a_file_of_somebody_else_is_never_touched() -> None:
    manager = ScriptedServiceManager(content=b"[Unit]\n")
    for plan in (Autostart(manager).plan, Autostart(manager).plan_removal):
        with pytest.raises(ServiceError, match="was not written by kiro-learn"):
            plan(force=True)


def test_a_file_that_was_changed_by_hand_is_replaced_only_by_force() -> None:
    manager = ScriptedServiceManager()
    autostart = installed(manager)
    assert manager.content is not None
    manager.content += b"Nice=19\n"
    assert autostart.report().origin is FileOrigin.EDITED
    with pytest.raises(ServiceError, match="was changed since") as refused:
        autostart.plan()
    assert refused.value.hint == "kiro-learn service install --force"
    with pytest.raises(ServiceError, match="was changed since") as refused:
        autostart.plan_removal()
    assert refused.value.hint == "kiro-learn service uninstall --force"
    assert autostart.plan(force=True).change is FileChange.REPLACE
    assert autostart.plan_removal(force=True).change is FileChange.REMOVE


def test_a_command_that_fails_is_named_with_its_last_words() -> None:
    autostart = Autostart(ScriptedServiceManager(fails="start"))
    with pytest.raises(ServiceError, match=r"^start absent: it is broken$"):
        autostart.carry_out(autostart.plan(), lambda _: None)


def test_a_daemon_that_the_service_is_starting_already_is_not_started_over() -> None:
    """The daemon may be upgrading the database, and a restart would begin the upgrade anew."""
    manager = ScriptedServiceManager()
    autostart = installed(manager)
    manager.ran.clear()
    manager.now = ServiceState.STARTING
    autostart.start()
    assert manager.ran == []


def test_the_hint_to_move_a_file_of_somebody_else_can_be_pasted() -> None:
    manager = ScriptedServiceManager(content=b"[Unit]\n", path=Path("/a b/it's"))
    with pytest.raises(ServiceError) as caught:
        Autostart(manager).plan()
    assert shlex.split(caught.value.hint) == ["mv", "/a b/it's", "/a b/it's.before"]
