"""Agents as real child processes: whatever one does, its caller gets an answer and no process of it is left.

The pitfalls were found before the client was written. Each has a test here or in the wire's tests.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import psutil
import pytest
import trio

from kiro_learn.adapters.acp.process import AcpLlm
from kiro_learn.errors import AgentExited, AgentNotFound, AgentSpokeNonsense, AgentWantsLogin, LlmError
from tests.integration.llm import bad_agent

SCRIPT = Path(bad_agent.__file__)
AT_ONCE_SECONDS = 8.0
"""The limit on a busy machine. Waiting for an agent to the end would take ten seconds and more."""


def an_agent(behaviour: str, cwd: Path, *, grace_seconds: float = 2.0) -> AcpLlm:
    return AcpLlm(
        # -I -S: an interpreter that starts in 15 ms.
        command=(sys.executable, "-I", "-S", str(SCRIPT), behaviour),
        cwd=cwd,
        environment={"KEPT": "kept", "GRANDCHILD_FILE": str(cwd / "grandchild")},
        grace_seconds=grace_seconds,
    )


def ask(llm: AcpLlm, prompt: str = "learn this", *, patience_seconds: float = 10.0) -> str:
    async def asking() -> str:
        with trio.fail_after(patience_seconds):
            return await llm.complete(prompt)

    return trio.run(asking)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No child process, alive or zombie, and no descriptor outlives a call."""
    us = psutil.Process()
    before, descriptors = us.children(), us.num_fds()  # another test's browser may run in this worker
    yield
    assert [child for child in us.children() if child not in before] == []
    assert us.num_fds() == descriptors


def grandchild_of(cwd: Path) -> int:
    return int((cwd / "grandchild").read_text())


def is_running(pid: int) -> bool:
    """Whether the process runs: it is neither gone nor a zombie that waits for init."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_gone(pid: int) -> bool:
    """Wait until a killed process is gone, which takes a moment, and more on a busy machine."""
    deadline = time.monotonic() + 20
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.005)
    return not is_running(pid)


def test_the_pieces_of_the_answer_are_joined_and_nothing_else_is(tmp_path: Path) -> None:
    assert ask(an_agent("ok", tmp_path)) == bad_agent.ANSWER


def test_a_banner_on_standard_output_is_noise(tmp_path: Path) -> None:
    assert ask(an_agent("banner", tmp_path)) == bad_agent.ANSWER


def test_permission_is_refused_and_files_are_not_ours_to_read(tmp_path: Path) -> None:
    assert ask(an_agent("permission", tmp_path)) == '{"outcome": {"outcome": "selected", "optionId": "no"}}-32601'


def test_a_flood_on_standard_error_does_not_stop_it(tmp_path: Path) -> None:
    assert ask(an_agent("stderr", tmp_path)) == "after the flood"


def test_a_line_of_three_megabytes_is_read(tmp_path: Path) -> None:
    assert ask(an_agent("long_line", tmp_path)) == bad_agent.LONG


def test_a_long_prompt_reaches_it_whole(tmp_path: Path) -> None:
    prompt = "\N{SNOWMAN}\n" * 500_000
    assert ask(an_agent("echo", tmp_path), prompt) == prompt


def test_one_that_dies_is_told_at_once_with_its_exit_code_and_last_words(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(AgentExited) as caught:
        ask(an_agent("dies", tmp_path))
    assert (caught.value.returncode, caught.value.stderr_tail) == (3, "out of memory\n")
    assert "out of memory" not in str(caught.value)
    assert time.monotonic() - started < AT_ONCE_SECONDS


def test_one_that_is_killed_is_told_with_the_signal(tmp_path: Path) -> None:
    with pytest.raises(AgentExited, match="was ended by signal 9 before it had answered") as caught:
        ask(an_agent("is_killed", tmp_path))
    assert caught.value.returncode == -signal.SIGKILL


def test_one_that_dies_takes_along_what_holds_its_pipes(tmp_path: Path) -> None:
    with pytest.raises(AgentExited):
        ask(an_agent("dies_leaving_a_grandchild", tmp_path))
    assert wait_gone(grandchild_of(tmp_path))


def test_one_that_hangs_up_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(AgentExited) as caught:
        ask(an_agent("hangs_up", tmp_path, grace_seconds=0.1))
    assert caught.value.returncode is None


def test_one_that_hangs_is_stopped_at_the_deadline(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(trio.TooSlowError):
        ask(an_agent("hangs", tmp_path), patience_seconds=0.3)
    assert time.monotonic() - started < AT_ONCE_SECONDS


def test_one_that_ignores_sigterm_is_killed_with_its_grandchild(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(trio.TooSlowError):
        ask(an_agent("deaf", tmp_path, grace_seconds=0.3), patience_seconds=0.5)
    assert 0.7 < time.monotonic() - started < AT_ONCE_SECONDS
    assert wait_gone(grandchild_of(tmp_path))


def test_one_that_asks_and_never_reads_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(AgentSpokeNonsense, match="more than it reads"):
        ask(an_agent("never_reads", tmp_path))


def test_garbage_is_noise_until_the_deadline(tmp_path: Path) -> None:
    with pytest.raises(trio.TooSlowError):
        ask(an_agent("garbage", tmp_path), patience_seconds=0.5)


def test_a_line_without_an_end_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(AgentSpokeNonsense, match="a line of more than"):
        ask(an_agent("endless_line", tmp_path))


def test_another_version_of_the_protocol_is_not_spoken(tmp_path: Path) -> None:
    with pytest.raises(AgentSpokeNonsense, match="version 1"):
        ask(an_agent("version_two", tmp_path))


def test_half_an_answer_is_none(tmp_path: Path) -> None:
    with pytest.raises(LlmError, match="max_tokens"):
        ask(an_agent("stopped_early", tmp_path))


def test_one_that_wants_a_login_says_so_in_our_words(tmp_path: Path) -> None:
    with pytest.raises(AgentWantsLogin, match="wants you to log in with it") as caught:
        ask(an_agent("logged_out", tmp_path))
    assert "own words" not in str(caught.value)
    assert Path(sys.executable).name in str(caught.value)


def test_our_hooks_can_tell_that_the_session_is_ours(tmp_path: Path) -> None:
    assert json.loads(ask(an_agent("environment", tmp_path))) == {"KIRO_LEARN_INTERNAL": "1", "KEPT": "kept"}


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    llm = AcpLlm(command=("no-such-agent", "acp"), cwd=tmp_path, environment={})
    with pytest.raises(AgentNotFound, match="no-such-agent"):
        ask(llm)


def test_a_folder_that_somebody_removed_is_made_again(tmp_path: Path) -> None:
    llm = attrs.evolve(an_agent("ok", tmp_path), cwd=tmp_path / "agent")
    assert ask(llm) == bad_agent.ANSWER
    assert list(llm.cwd.iterdir()) == []


def test_cancelling_leaves_nothing_at_whatever_moment(tmp_path: Path) -> None:
    async def cancelled_after(seconds: float) -> None:
        with trio.move_on_after(seconds):
            await an_agent("hangs", tmp_path).complete("learn this")

    before = psutil.Process().children()
    for milliseconds in (0, 1, 3, 10, 30):
        trio.run(cancelled_after, milliseconds / 1000)
        assert psutil.Process().children() == before


def test_two_hundred_calls_cost_no_descriptor(tmp_path: Path) -> None:
    async def calling(count: int) -> None:
        for _ in range(count):
            assert await an_agent("ok", tmp_path).complete("learn this") == bad_agent.ANSWER

    async def scenario() -> None:
        await calling(2)
        before = psutil.Process().num_fds()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(calling, 99)
            nursery.start_soon(calling, 99)
        assert psutil.Process().num_fds() == before

    trio.run(scenario)
