"""What a command needs is kept if it failed without that: reported by a person, or ordered."""

from __future__ import annotations

import pytest

from kiro_learn.model.event import Event
from tests.unit.learning.histories import answer, learned, prompt, tool


def failed(number: int) -> Event:
    return tool(number, "Bash", {"command": "make it"}, {"success": False, "result": ["Error: exit status 2"]})


def worked(number: int) -> Event:
    return tool(number, "Bash", {"command": "make it"}, {"success": True, "result": ["ok"]})


@pytest.mark.parametrize(
    ("asked", "answered", "told"),
    [
        (
            "make test fails for me",
            (
                "The tests need the `pg-test` container, which listens on **5433** (not 5432), and it wasn't running. "
                "I started it with `docker compose up -d pg-test` and `make test` passes now."
            ),
            "5433",
        ),
        (
            "make lint is broken",
            (
                "The linter comes from `make tools`, which installs into `./bin`, and that folder was missing. I ran "
                "`make tools` and `make lint` passes now."
            ),
            "make tools",
        ),
        (
            "make run dies",
            "The service needs `AWS_REGION`, and it wasn't set. With `AWS_REGION=eu-west-1 make run` it starts.",
            "AWS_REGION",
        ),
        ("worker restarts all the time", "The memory limit is 256 MB and the batch needs 400.", "256 MB"),
        (
            "build image keeps failing",
            (
                "The `base` stage requires BuildKit 0.12, and its daemon was not started. I started it and the image "
                "is built now."
            ),
            "BuildKit",
        ),
        (
            "run e2e crashes on startup",
            "Playwright reads its browsers from `.cache/ms-playwright`, and CI mounts another folder there.",
            "ms-playwright",
        ),
        (
            "plan always shows a diff on the task def",
            "The `environment` block is unordered in the API's answer. Sorting it in the module ends the diff.",
            "environment",
        ),
        (
            "make gen only works on linux",
            "The Makefile calls `sed -i` without a suffix, which macOS refuses.",
            "sed -i",
        ),
        ("the indexer wakes up over and over", "Its poll interval is 2 s and a pass over `docs/` takes 5.", "docs/"),
    ],
)
def test_the_cause_of_a_reported_failure_is_kept(asked: str, answered: str, told: str) -> None:
    (draft,) = learned(prompt(1, asked), failed(2), worked(3), answer(4, answered))
    assert told in f"{draft.title}\n{draft.summary}"


@pytest.mark.parametrize(
    ("asked", "answered", "told"),
    [
        (
            "run it against local",
            (
                "It works now. The annotation `-- +goose NO TRANSACTION` must be the **first line** of the file; "
                "otherwise goose ignores it and wraps the migration in a transaction."
            ),
            "NO TRANSACTION",
        ),
        (
            "try it on staging",
            (
                "All green now. `make smoke` needs `AWS_PROFILE=acme-staging`; otherwise it signs the requests with "
                "the default profile."
            ),
            "AWS_PROFILE",
        ),
        (
            "apply it",
            "It's applied. The CRDs have to be installed first; otherwise the server doesn't know `ServiceMonitor`.",
            "CRDs",
        ),
        ("deploy to the demo box", "Deployed. `rsync` to that machine only works with `--rsh=ssh -p 2222`.", "2222"),
        ("push", "Pushed. The pre-push hook requires `uv` 0.5 for its lock check; I installed it.", "pre-push hook"),
        ("seed the db", "All rows are in. `seed.py` depends on `PGSSLMODE=disable` for a local server.", "PGSSLMODE"),
    ],
)
def test_what_an_ordered_command_needs_is_kept_when_it_failed_without_it(asked: str, answered: str, told: str) -> None:
    (draft,) = learned(prompt(1, asked), failed(2), worked(3), answer(4, answered))
    assert told in f"{draft.title}\n{draft.summary}"
    assert learned(prompt(1, asked), worked(2), answer(3, answered.partition(". ")[0] + ".")) == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("make test fails for me", "The `pg-test` container wasn't running. I started it and `make test` passes now."),
        ("run the tests", "PR 212 needs a review before it can be merged, and all 38 tests pass now."),
        ("run the smoke tests", "It needs another run: `make smoke` was cut off after 30 s by the network."),
        ("make lint stricter, it is too lax", "I've made a start on it; tell me which of the groups you want."),
        ("delete failed jobs", "There were 14 of them in `jobs/`, and the folder has room again."),
    ],
)
def test_what_the_next_start_mends_makes_no_memory(asked: str, answered: str) -> None:
    assert learned(prompt(1, asked), failed(2), worked(3), answer(4, answered)) == []
