# ruff: noqa: RUF001  # full-width marks of Japanese
"""A turn makes a memory if it teaches something that still holds next month."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.durability import TurnAim, wanted_by
from kiro_learn.learning.extraction.extractive.turns import Said, Turn
from kiro_learn.model.event import Event
from kiro_learn.model.record import KnowledgeType, Origin
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
            "/plan-phase 14",
            "PHASE 14 PLANNED\n\nThere are five plans in three waves: the importer, `pool.ts` and the worker.",
        ),
        (
            "start it again",
            "The session has:\n- API (PID 79324) on :3000, with the correct CORS\n- Frontend (PID 72315) on :5177",
        ),
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
        ("fix the limits", "We decided to keep them in limits.toml, since they are easier to read there."),
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
    assert (draft.title, draft.origin) == ("Never push to main", Origin.USER)


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
        (("how do i reset the local db",), TurnAim.ANSWER),
        (("remind me which port redis uses",), TurnAim.ANSWER),
        (("should we store money as float or decimal",), TurnAim.ANSWER),
        (("how about a darker header",), TurnAim.WORK),
        (("do the migration",), TurnAim.WORK),
        (("what should i do here?",), TurnAim.STATE),
        (("the importer hangs",), TurnAim.WORK),
        (("the importer hangs", "why is that?"), TurnAim.ANSWER),
    ],
)
def test_what_prompts_want(asked: tuple[str, ...], wanted: TurnAim) -> None:
    said = tuple(Said(number, "user", text) for number, text in enumerate(asked, start=1))
    assert wanted_by(Turn(said, (), Said(9, "assistant", "Done."))) is wanted


def test_a_cause_and_its_cure_are_kept_where_no_word_names_the_cause() -> None:
    said = "The data line had no pull-up, and the internal ones are too weak. With 4.7k outside it reads fine."
    (draft,) = learned(prompt(1, "BME280 reads return 0xFF"), answer(2, said))
    assert "4.7k" in draft.summary


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "The test database was not running. docker compose up -d db starts it. Run the tests again.",
            ["The test database was not running. docker compose up -d db starts it."],
        ),
        (
            "Vite served the old env. `rm -rf node_modules/.vite` fixed that",
            ["Vite served the old env. `rm -rf node_modules/.vite` fixed that"],
        ),
        ("It was red. A restart fixes it. go on", []),
        ("Is it red? make clean fixes it.", []),
        ("CI was flaky. Re-running it fixed that.", []),
        ("The build was broken. The follow-up PR fixed that.", []),
        ("The import was slow. Your last change (the one/two split) fixed it.", []),
    ],
)
def test_a_fault_and_its_cure_that_a_person_tells_are_kept_together(said: str, kept: list[str]) -> None:
    assert [draft.summary for draft in learned(prompt(1, said), answer(2, "All 42 tests pass now."))] == kept


def test_what_a_change_brings_with_it_is_kept() -> None:
    said = "The API was compiled again, but that also means another key pair. Wait a bit before the next login."
    (draft,) = learned(prompt(1, "still seeing the uuid in the top bar."), edited(2), answer(3, said))
    assert "another key pair" in draft.summary


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("ok, mach weiter", "Alle Tests laufen durch. Ich mache jetzt mit dem nächsten Schritt weiter."),
        ("danke", "Gern geschehen! Sag Bescheid, wenn noch etwas ist."),
        ("wie ist der Stand?", "Der Branch `zahlung` ist zwei Commits vor main. Alle 88 Tests laufen durch."),
        ("続けてください", "了解しました。次の作業に進みます。"),
        ("今の状況は？", "現在 `feature/riverpod` ブランチにいます。テストは全て通っています。次は設定画面です。"),
    ],
)
def test_talk_of_other_languages_makes_no_memory(asked: str, answered: str) -> None:
    assert learned(prompt(1, asked), answer(2, answered)) == []


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("We use Kafka for events because the team knows it. Write it into docs/adr/1.md", "ADR 1 is written."),
        ("Let's replace Kafka with NATS: its brokers cost 900 EUR a month. Update the ADR", "Done."),
        ("we settled on 0.08 because testers jumped twice by accident", "OK."),
        ("Wir nehmen PayPal statt Klarna, weil Klarna 2,9 % verlangt.", "Umgestellt."),
        ("we tried sea-orm, too slow to compile. sqlx it is", "Got it, `sqlx` with offline mode."),
        ("状態管理はBLoCではなくRiverpodにします。", "承知しました。"),
    ],
)
def test_a_choice_with_its_reason_is_kept_in_the_words_of_the_person(said: str, answered: str) -> None:
    (draft,) = learned(prompt(1, said), answer(2, answered))
    assert draft.title.rstrip(".。").lower() in said.lower()
    assert (draft.origin, draft.knowledge_type) == (Origin.USER, KnowledgeType.DECISION)


def test_a_choice_without_a_reason_and_an_answer_that_says_nothing_make_no_memory() -> None:
    assert learned(prompt(1, "let's use the second one"), answer(2, "Done.")) == []


def test_a_choice_of_the_moment_is_no_decision() -> None:
    assert learned(prompt(1, "don't commit this yet, the tests are not done"), answer(2, "OK.")) == []


def test_a_command_that_fails_is_a_fault_and_no_step() -> None:
    said = "The role `deploy-bot` lacked `s3:PutObjectAcl` on `assets-eu`. Added to `infra/iam.tf`."
    (draft,) = learned(prompt(1, "deploy fails with AccessDenied"), edited(2), answer(3, said))
    assert "lacked" in draft.title


def test_a_short_answer_to_a_change_with_its_reason_is_kept() -> None:
    asked = "the staging box has only 2 vCPU, keep the pool at 4"
    (draft,) = learned(prompt(1, asked), edited(2), answer(3, "Pool set to 4 in `src/pool.ts`."))
    assert asked in draft.summary


def test_a_short_list_of_what_is_left_makes_no_memory() -> None:
    assert learned(prompt(1, "what's left?"), answer(2, "Remaining:\n1. Write tests\n2. Deploy")) == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (
            "Why is the search slow?",
            "The products table has no index on tenant_id, so each search scans 2 million rows.",
        ),
        ("Why is it slow? It was fast last week.", "The products table has no index on tenant_id; it scans all rows."),
        ("users report 502s since noon", "The gateway times out after 30 s while the report endpoint takes 45 s."),
        ("Tests are flaky on CI. Why?", "The tests share one temp folder, and two workers delete each other's files."),
        ("login fails on Safari", "Safari drops SameSite=None cookies without Secure, and the dev server sets them."),
        ("the tooltips flicker", "The tooltip covers its own trigger, and mouseleave fires each time."),
        ("phone numbers lose their leading zero", "pandas reads the column as int64."),
    ],
)
@pytest.mark.parametrize("has_changed", [False, True])
def test_how_things_are_is_the_cause_where_a_fault_is_reported(asked: str, answered: str, *, has_changed: bool) -> None:
    between = [edited(2)] if has_changed else []
    (draft,) = learned(prompt(1, asked), *between, answer(3, answered))
    assert answered in draft.summary


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("the build fails", "I'll look into build.gradle and the cache of the runner now."),
        ("login doesn't work", "It works now: I restarted the server on port 3000 for you."),
        ("why is it red?", "Probably a timeout of `nginx`, and the log of the proxy tells more about it."),
        ("the page is blank", "`App.tsx` is loaded and the console is empty. Which address do you have open?"),
        ("the script fails", "The `api` server isn't running on port 3002, so the script has nothing to talk to."),
        ("the tests are flaky", "\u2705 `sharing.spec.ts` is stable and the whole suite passes as expected."),
    ],
)
def test_what_was_done_or_is_supposed_about_a_fault_is_no_cause(asked: str, answered: str) -> None:
    assert learned(prompt(1, asked), answer(2, answered)) == []


NO_HELP = "that didn't work, the old one is still there"


@pytest.mark.parametrize(
    "ordered",
    [
        "The invoices number format changes: from 2026-0001 to INV-2026-00001",
        "Rename the queue from jobs to work_items",
        "Session cookies should be SameSite=Lax, not Strict",
    ],
)
def test_what_a_person_ordered_outlives_an_answer_that_did_not_help(ordered: str) -> None:
    said = answer(3, "Done: the format has its own module now, in src/pool.ts.")
    (draft,) = learned(prompt(1, ordered), edited(2), said, prompt(4, NO_HELP))
    assert (draft.title, draft.origin, draft.knowledge_type) == (ordered, Origin.USER, KnowledgeType.DECISION)


def test_a_fault_that_was_not_mended_orders_nothing() -> None:
    said = answer(3, "The handler was never bound, because `onClick` was misspelled in src/pool.ts.")
    assert learned(prompt(1, "the login button doesn't work"), edited(2), said, prompt(4, NO_HELP)) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "yes, and write down the steps: bump version, tag vX.Y.Z, push the tag. The tag triggers the publish.",
            "bump",
        ),
        ("To rotate the keys: run keys/new.sh, update the vault, restart the gateway", "restart the gateway"),
        ("Release steps:\n1. bump\n2. tag\n3. push", "3. push"),
        ("We deploy by merging into the release branch, Argo picks it up", "Argo"),
    ],
)
def test_how_a_person_says_that_something_is_done_is_kept(said: str, told: str) -> None:
    (draft,) = learned(prompt(1, said), answer(2, "OK."))
    assert told in draft.title
    assert draft.origin is Origin.USER


def test_a_list_of_what_is_next_is_no_procedure() -> None:
    assert learned(prompt(1, "run the tests, then commit, then push"), answer(2, "Done.")) == []


@pytest.mark.parametrize(
    "rejected",
    [
        "no, not like that. we use anyhow in this repo, no custom error enums",
        "that's not what I meant, use the error type we have",
        "nein, nicht so. nimm anyhow",
        "wrong, that's not how we do errors here",
    ],
)
def test_what_a_person_turned_down_is_not_kept_as_done(rejected: str) -> None:
    done = "I replaced the unwraps in src/main.rs with a custom enum GrepoError, since it needs no dependency."
    kept = learned(
        prompt(1, "Set up the error handling."), edited(2), answer(3, done), prompt(4, rejected), answer(5, "Changed.")
    )
    assert not any("GrepoError" in draft.summary for draft in kept)


def test_what_compares_two_figures_is_kept_without_a_reason() -> None:
    said = "N-HiTS with quantile loss 0.65: 3,985 EUR per day (LightGBM 4,298), 52 minutes on the L4."
    (draft,) = learned(prompt(1, "Retrain N-HiTS with the quantile loss"), answer(2, said))
    assert "3,985 EUR" in draft.summary
