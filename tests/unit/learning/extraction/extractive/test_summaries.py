from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.extract import (
    asked_line,
    beginning,
    earnest_blocks,
    without_title,
)
from kiro_learn.learning.extraction.extractive.markdown import blocks_of
from kiro_learn.learning.extraction.extractive.titles import TITLE_CHARACTERS, title_of
from kiro_learn.learning.extraction.extractive.turns import Said, Turn


def turn(*prompts: str, previous: Turn | None = None) -> Turn:
    return Turn(tuple(Said(1, "user", text) for text in prompts), (), Said(2, "assistant", "x"), previous)


def test_a_summary_says_what_was_asked() -> None:
    assert asked_line(turn("why does the\nbuild fail on ARM?")) == "Asked: why does the build fail on ARM?"


def test_a_long_prompt_is_cut() -> None:
    assert len(asked_line(turn("word " * 100))) < 320


def test_all_prompts_of_an_interrupted_turn_are_shown_but_nods() -> None:
    assert asked_line(turn("rename the flag", "sorry, continue", "to --quiet instead of --silent")) == (
        "Asked: rename the flag / to --quiet instead of --silent"
    )


def test_a_nod_shows_what_it_agreed_to() -> None:
    before = Turn((Said(1, "user", "fix it"),), (), Said(2, "assistant", "I could. Shall I use a lock?"))
    assert asked_line(turn("yes", previous=before)) == "Asked: yes (after: Shall I use a lock?)"


def test_a_short_follow_up_shows_what_it_follows() -> None:
    before = Turn((Said(1, "user", "explain the cache"),), (), Said(2, "assistant", "It is a map."))
    assert asked_line(turn("and the size?", previous=before)) == "Asked: and the size? (after: explain the cache)"


@pytest.mark.parametrize(
    "before",
    [
        "from now on every db test uses testdb.New, no shared schema",
        "never put request bodies in logs",
        "We always squash before a merge. Please never push to main.",
        "thanks!",
        "ok great, go on",
        "good morning",
    ],
)
def test_a_rule_and_talk_are_no_subject_of_what_follows(before: str) -> None:
    assert asked_line(turn("wheres the dashboard", previous=turn(before))) == "Asked: wheres the dashboard"


@pytest.mark.parametrize("before", ["reconcile is slow", "add a db test for accounts", "where are the db tests"])
def test_a_task_and_a_question_are_one(before: str) -> None:
    line = f"Asked: wheres the dashboard (after: {before})"
    assert asked_line(turn("wheres the dashboard", previous=turn(before))) == line


@pytest.mark.parametrize(
    ("offered", "after"),
    [
        ("Would you like me to go ahead?", "redis or pg for the keys"),
        ("Want me to do that?", "redis or pg for the keys"),
        ("Shall I set it up?", "redis or pg for the keys"),
        ("Shall I bump it to v1.61?", "Shall I bump it to v1.61?"),
        ("Do you want it in `infra/s3.tf`?", "Do you want it in `infra/s3.tf`?"),
    ],
)
def test_a_question_that_names_nothing_gives_way_to_the_prompt_before_it(offered: str, after: str) -> None:
    previous = Turn((Said(1, "user", "redis or pg for the keys"),), (), Said(2, "assistant", f"Postgres. {offered}"))
    assert asked_line(turn("yes", previous=previous)) == f"Asked: yes (after: {after})"


def test_a_note_has_no_line_of_what_was_asked() -> None:
    assert asked_line(turn()) == ""


def test_chatter_around_an_answer_is_left_out() -> None:
    blocks = earnest_blocks(blocks_of("Perfect! All tests pass.\n\n## Summary\n\nThe port is 8080. Want me to commit?"))
    assert [block.text for block in blocks] == ["The port is 8080."]


def test_a_beginning_ends_where_a_sentence_ends() -> None:
    blocks = blocks_of(
        "The first statement is here.\n\nThe second statement comes after it. The third does not fit in."
    )
    assert beginning(blocks, 80) == ("The first statement is here.\nThe second statement comes after it.", 1)


def test_a_heading_is_not_left_alone_at_the_end() -> None:
    blocks = blocks_of("The first statement is here.\n\n## Details\n\nMore.")
    assert beginning(blocks, 40) == ("The first statement is here.", 2)


def test_a_heading_that_became_the_title_is_not_repeated() -> None:
    blocks = blocks_of("## Cache layout\n\nIt is a map.")
    assert [block.text for block in without_title(blocks, "Cache layout")] == ["It is a map."]
    assert without_title(blocks, "Another") == blocks


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Done. The retry limit is 5 now, set in `client.go`.", "The retry limit is 5 now, set in client.go."),
        ("Great! All tests pass.\n\n## Summary: Fixed the `OAuth` token refresh", "Fixed the OAuth token refresh"),
        ("## Summary\n\nThe scheduler drops jobs without an owner.", "The scheduler drops jobs without an owner."),
        ("**Root cause:** the DNS cache outlives the container", "The DNS cache outlives the container"),
        ("Looking at the code, the pool never shrinks again.", "The pool never shrinks again."),
        ("You're right. the pool leaks connections under load.", "The pool leaks connections under load."),
        (
            "```go\nfunc main() {}\n```\nThe entry point registers both commands.",
            "The entry point registers both commands.",
        ),
    ],
)
def test_a_title_is_what_the_answer_says_first(answer: str, title: str) -> None:
    assert title_of(earnest_blocks(blocks_of(answer)), "please look at it") == title


def test_a_sentence_that_leans_on_the_question_takes_it_along() -> None:
    assert title_of(blocks_of("It was bundled into the release."), "why has `v2` no tag?") == (
        "Why has v2 no tag? It was bundled into the release."
    )


def test_a_recommendation_stands_behind_its_question() -> None:
    assert title_of(blocks_of("Both work, but I'd recommend Postgres:\n- it runs already"), "redis or postgres?") == (
        "Redis or postgres? Both work, but I'd recommend Postgres: it runs already"
    )


def test_a_prompt_that_announces_a_plan_is_named_by_the_plan() -> None:
    prompt = "Implement the following plan:\n\n# Show the badge of a rule\n\n## Context\n\nIt is missing."
    assert title_of(blocks_of("- `Badge.tsx`: added the count of rules"), prompt) == (
        "Show the badge of a rule: Badge.tsx: added the count of rules"
    )


@pytest.mark.parametrize(
    "moment",
    [
        "Restarted the API and the tunnel.",
        "Reply with a number to view details.",
        "Try the login again now.",
        "Todo saved: `notes/pool.md`",
    ],
)
def test_what_holds_for_an_hour_is_no_title(moment: str) -> None:
    answer = f"{moment}\n\nThe pool never shrinks below twenty connections."
    assert title_of(blocks_of(answer), "x") == "The pool never shrinks below twenty connections."


def test_one_of_several_headings_names_nothing() -> None:
    answer = "Looks fine.\n\n## Option 1: a lock file beside the socket\n\nThe lock survives a crash of the daemon."
    assert title_of(blocks_of(answer), "x") == "The lock survives a crash of the daemon."


def test_a_list_answers_the_question() -> None:
    assert title_of(blocks_of("- `setup.go`, during enable\n- the stop hook"), "when does it run?") == (
        "When does it run? setup.go, during enable"
    )


def test_an_answer_that_names_nothing_is_titled_by_its_question() -> None:
    assert title_of(
        blocks_of("It works."), "Migrate the billing tables to the new schema and keep the old ones around for a week"
    ) == ("Migrate the billing tables to the new schema and keep the old ones around for a week")


def test_a_title_is_never_empty() -> None:
    assert title_of(blocks_of("```\n\u251c\u2500\u2500 a.yml\n```"), "yes") == "\u251c\u2500\u2500 a.yml"


def test_a_long_title_ends_with_a_word() -> None:
    title = title_of(blocks_of("The scheduler " + "forgets pending jobs " * 20), "")
    assert len(title) <= TITLE_CHARACTERS
    assert title.endswith("...")


@pytest.mark.parametrize(
    ("asked", "answered", "title"),
    [
        (
            "Which version of procrastinate did you pin?",
            "2.15, since 3.x needs Postgres 13 features we don't have.",
            "Which version of procrastinate did you pin? 2.15, since 3.x needs Postgres 13 features we don't have.",
        ),
        (
            "Why do we use two databases?",
            "Because the reports locked the orders table; the replica takes them.",
            "Why do we use two databases? Because the reports locked the orders table; the replica takes them.",
        ),
        (
            "so, back to Celery?",
            "I would not: tasks were lost twice with Celery on Redis.",
            "Back to Celery? I would not: tasks were lost twice with Celery on Redis.",
        ),
        ("And which region is it?", "eu-north-1.", "Which region is it? eu-north-1."),
        (
            "how long?",
            "About 40 minutes, since the dump holds 300 GB.",
            "How long? About 40 minutes, since the dump holds 300 GB.",
        ),
        ("the report is empty", "Because the cron runs in UTC.", "The report is empty: Because the cron runs in UTC."),
        ("what fails?", "3 workers of the importer share one file.", "3 workers of the importer share one file."),
    ],
)
def test_a_title_without_a_subject_has_its_question_in_front(asked: str, answered: str, title: str) -> None:
    assert title_of(blocks_of(answered), asked) == title


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("`--no-verify` skips the hooks, so that only the CI finds them.", "--no-verify skips the hooks"),
        ("--json prints one object a line.", "--json prints one object a line"),
    ],
)
def test_an_option_at_the_beginning_keeps_its_hyphens(said: str, title: str) -> None:
    assert title_of(blocks_of(said), "how do I turn the hooks off?").startswith(title)


def test_what_happened_is_the_title_and_not_a_line_of_the_list_of_changes() -> None:
    said = (
        "The backfill deadlocked with the trigger: both update rows of invoices, in different order.\n\n### "
        "Files\n\n- `scripts/backfill.mjs`: new branch for this case (45 lines)\n- `db/trigger.sql`: takes the same "
        "order\n\nI ran `pnpm test` and everything passes. Commit it with a proper message: git commit -m ok"
    )
    assert title_of(blocks_of(said), "Why does the backfill hang?").startswith(
        "The backfill deadlocked with the trigger"
    )


def test_a_claim_of_success_is_no_title_where_a_cause_is_told() -> None:
    said = "I've successfully fixed the login! The token was compared in local time, so it expired an hour early."
    assert title_of(blocks_of(said), "Fix the login").startswith("The token was compared in local time")


def test_an_item_of_a_list_stands_under_its_heading() -> None:
    item = "Device ids are hashes of the public key, so that they are stable"
    said = f"Three things.\n\n### Encrypted device registry\n\n- {item}\n- Single blob\n- Yes"
    assert title_of(blocks_of(said), "go on") == f"Encrypted device registry: {item}"


def test_what_announces_a_command_has_it_with_it() -> None:
    answer = (
        "By the playbook and the scripts of the frontend you run:\n\n```sh\nnpm run test:e2e\n```\n\nBoth must be up."
    )
    title = "By the playbook and the scripts of the frontend you run: npm run test:e2e"
    assert title_of(blocks_of(answer), "which command confirms that all tests are green?") == title


@pytest.mark.parametrize(
    ("asked", "answered", "title"),
    [
        (
            "p99 on GET /balances went from 40 to 900ms",
            (
                "The planner does a sequential scan on `postings`.\n\nSince 0031, the query filters by `tenant_id`, "
                "and the new index looked better to the planner while its statistics were empty... but actually the "
                "root cause is different: autovacuum hasn't analyzed `postings` since the migration, because its "
                "factor is 0.1."
            ),
            "Autovacuum hasn't analyzed postings since the migration, because its factor is 0.1.",
        ),
        (
            "test is flaky",
            (
                "I thought the clock was the cause because the fixtures have fixed dates. The real cause: two tests "
                "share the schema `recon`, and one truncates it."
            ),
            "Two tests share the schema recon, and one truncates it.",
        ),
        (
            "why do uploads stall",
            (
                "It looked like the proxy buffers them, because it logs each one twice. The actual problem was the "
                "disk quota of `/var/spool`, which the nightly dump uses up."
            ),
            "The actual problem was the disk quota of /var/spool, which the nightly dump uses up.",
        ),
        (
            "plan fails on main, mine is ok",
            (
                "CI uses Terraform 1.7, and the module needs `ephemeral` values... no wait, nothing there uses them. "
                "The provider lock has no hash for linux_amd64, so CI cannot verify it."
            ),
            "The provider lock has no hash for linux_amd64, so CI cannot verify it.",
        ),
        (
            "why do tasks get oom killed",
            (
                "At first it looked like the image cache, because it grows with every request. But that's not it: "
                "the gRPC client keeps one connection per request, since `Close` is never called."
            ),
            "The gRPC client keeps one connection per request, since Close is never called.",
        ),
        (
            "mails are sent twice",
            (
                "My first guess was the retry of the queue, because it has no id. The underlying reason is that two "
                "workers read `mail.outbox` without a lock."
            ),
            "Two workers read mail.outbox without a lock.",
        ),
    ],
)
def test_a_stated_cause_is_the_title_and_not_the_guess_before_it(asked: str, answered: str, title: str) -> None:
    assert title_of(blocks_of(answered), asked) == title


@pytest.mark.parametrize("passing", ["`terraform validate` passes in both environments.", "`make lint` passes too."])
def test_that_a_check_passes_is_no_title(passing: str) -> None:
    blocks = blocks_of(f"I've deleted `infra/modules/pgbouncer` (3 files). {passing}")
    assert title_of(blocks, "yea delete").endswith("I've deleted infra/modules/pgbouncer (3 files).")


def test_that_a_thing_is_passed_on_is_one() -> None:
    said = "`hook.sh` passes the prompt to the daemon."
    assert title_of(blocks_of(said), "what does the hook do") == "hook.sh passes the prompt to the daemon."


@pytest.mark.parametrize(
    ("asked", "answered", "title"),
    [
        (
            "why is the build slow",
            "The build copies `node_modules` into each layer. The root cause is not in the Dockerfile alone.",
            "The build copies node_modules into each layer.",
        ),
        (
            "why does the importer hang",
            "The importer waits for a lock that `cron.daily` holds. The real issue: it never ends.",
            "The importer waits for a lock that cron.daily holds.",
        ),
        (
            "why do we have two pools",
            "We thought one pool would do, but reports hold their connections for minutes.",
            "We thought one pool would do, but reports hold their connections for minutes.",
        ),
    ],
)
def test_words_of_a_cause_that_name_none_make_no_title(asked: str, answered: str, title: str) -> None:
    assert title_of(blocks_of(answered), asked) == title
