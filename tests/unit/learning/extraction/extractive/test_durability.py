"""Which turns make a memory: those that teach something that still holds next month."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.durability import TurnAim, wanted_by
from kiro_learn.learning.extraction.extractive.turns import Said, Turn
from kiro_learn.model.event import Event
from kiro_learn.model.record import Origin
from tests.unit.learning.histories import answer, learned, prompt, tool

EDIT = {"file_path": "src/pool.ts"}


def edited(number: int) -> Event:
    return tool(number, "Edit", EDIT, {"success": True})


def failed(number: int) -> Event:
    return tool(number, "Bash", {"command": "npm test"}, {"success": False, "result": ["Error: no free port"]})


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("/todo:list", "**Pending todos**\n\n1. Move the importer to the worker\n2. Rename `PoolSize` in the settings"),
        ("/todo:list", "Three are open: the worker, the `PoolSize` setting and the flaky test of the importer."),
        (
            "ok create a pr please",
            "The PR is https://example.com/pull/12, with `src/pool.ts` and its test in one commit.",
        ),
        ("have we completed everything of phase two?", "Yes: `pool.ts`, `worker.ts` and `importer.ts` are in place."),
        ("what should i do here?", "Choose the second entry of the list, then confirm the dialogue with Enter."),
        ("it is stuck", "The browser was closed by the crash. Can you open a new tab and try the login flow again?"),
        ("how many were there?", "I looked through all of the folders for you and there were quite a lot of them."),
        ("I updated the dashboard", "The dashboard shows the new address, and the login page answers in the new tab."),
    ],
)
def test_the_state_of_the_moment_makes_no_memory(asked: str, answered: str) -> None:
    assert learned(prompt(1, asked), answer(2, answered)) == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("why do we run out of sockets?", "Every request opens one, because `Pool.close()` is never called."),
        ("login fails with 400", "The issue is that the verifier has cached the old public key for ten minutes."),
        ("should the proxy be on?", "No. The mail servers must see the CNAME, so it has to stay DNS only."),
        (
            "where are the limits?",
            "They are in `src/limits.ts`, which the importer and the worker read at their start.",
        ),
        ("can we merge the two?", "I advise against it: the importer would hold its lock for the whole of a run."),
    ],
)
def test_causes_bounds_places_and_what_was_turned_down_make_one(asked: str, answered: str) -> None:
    (draft,) = learned(prompt(1, asked), answer(2, answered))
    assert answered.partition(".")[0].partition(",")[0] in f"{draft.title}\n{draft.summary}"


def test_a_step_makes_one_only_where_it_failed_and_the_cure_is_told() -> None:
    cure = "Committed. A leftover folder `tmp/clones` was causing the hook to test foreign files; I removed it."
    assert learned(prompt(1, "commit"), answer(2, cure)) == []
    (draft,) = learned(prompt(1, "commit"), failed(2), answer(3, cure))
    assert "tmp/clones" in draft.title


def test_a_cure_that_did_not_help_makes_none() -> None:
    turn = (prompt(1, "the importer hangs"), edited(2), answer(3, "Fixed: it hung because `close()` was never called."))
    assert len(learned(*turn)) == 1
    later = answer(5, "The lock file of the last run was never removed, because `atexit` does not run after a kill.")
    (draft,) = learned(*turn, prompt(4, "it still hangs at the same place"), later)
    assert "lock file" in draft.title


def test_what_a_person_laid_down_is_kept_whatever_the_answer_says() -> None:
    (draft,) = learned(prompt(1, "ok, and never push to main"), answer(2, "Got it, I'll wait for your word then."))
    assert (draft.title, draft.origin) == ("And never push to main", Origin.USER)


def test_a_change_is_kept_with_the_reason_that_a_person_gave_for_it() -> None:
    asked = "make the timeout 45m, since the notary takes thirty minutes on a bad day"
    (draft,) = learned(
        prompt(1, asked), edited(2), answer(3, "The workflow has the new value and the release went through.")
    )
    assert "since the notary takes thirty minutes" in draft.summary


def test_a_title_says_what_holds_and_not_that_something_was_done() -> None:
    told = (
        "I've successfully fixed the deployment!\n\n## Great progress!\n\n"
        "The build failed because Railway ran the TypeScript files without compiling them.\n\n"
        "It reads `dist/server.js` now."
    )
    (draft,) = learned(prompt(1, "the deploy fails, help"), edited(2), answer(3, told))
    assert draft.title == "The build failed because Railway ran the TypeScript files without compiling them."


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ((), TurnAim.NOTHING),
        (("/gsd:progress",), TurnAim.COMMAND),
        (("/gsd:debug the login is stuck",), TurnAim.WORK),
        (("ok lets get a pr up",), TurnAim.STEP),
        (("can you commit and push this",), TurnAim.STEP),
        (("is everything done?",), TurnAim.STATE),
        (("why?",), TurnAim.ANSWER),
        (("what should i do here?",), TurnAim.STATE),
        (("the importer hangs",), TurnAim.WORK),
        (("the importer hangs", "why is that?"), TurnAim.ANSWER),
    ],
)
def test_what_prompts_want(asked: tuple[str, ...], wanted: TurnAim) -> None:
    said = tuple(Said(number, "user", text) for number, text in enumerate(asked, start=1))
    assert wanted_by(Turn(said, (), Said(9, "assistant", "Done."))) is wanted
