"""An agent that loops, as a real process: what it said 300 times is one memory, even without vectors and a judge."""

from __future__ import annotations

from pathlib import Path

from tests.integration.daemon_process import running_daemon
from tests.integration.llm.test_learning_by_a_model import agent, records, wait_learned

RECORD = (
    '<memory_record type="discovery" events="1"><title>{title}</title><summary>It is kept between runs.</summary>'
    "</memory_record>\n"
)
RULE = "Always use pnpm here, never npm."
"""The person's rule in the event, which the agent does not mention. It is kept too."""


def test_a_looping_agent_leaves_one_memory(tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    answer.write_text(300 * RECORD.format(title="The build uses a cache"), encoding="utf-8")
    with running_daemon(tmp_path / "home", {**agent("says", str(answer)), "KIRO_LEARN_LLM_BACKEND": "acp"}) as daemon:
        assert wait_learned(daemon)["records"] == 2
        assert {record["title"] for record in records(daemon)} == {"The build uses a cache", RULE}


def test_an_agent_that_says_too_much_is_cut_off_and_the_status_says_so(tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    answer.write_text("".join(RECORD.format(title=f"Topic {number}") for number in range(100)), encoding="utf-8")
    with running_daemon(tmp_path / "home", {**agent("says", str(answer)), "KIRO_LEARN_LLM_BACKEND": "acp"}) as daemon:
        assert wait_learned(daemon)["records"] == 64 + 1
        (run,) = daemon.call("GET", "/v1/status")["runs"]
        assert run["problem"] == "the answer had too many memories: the first 64 are kept, 36 are not"
