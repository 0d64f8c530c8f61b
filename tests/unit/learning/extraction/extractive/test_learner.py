from __future__ import annotations

import time

import pytest

from kiro_learn.learning.extraction.extractive.observation_types import knowledge_type, observation_type
from kiro_learn.model.event import Event, EventKind, MessageBody, Turn
from kiro_learn.model.record import KnowledgeType, ObservationType, Origin
from tests.unit.learning.histories import answer, event, event_id, learned, note, prompt, tool

CAUSE = (
    "Found it! The root cause is the connection pool: `Pool.close()` is never called, so requests leak sockets.\n\n"
    "I fixed it in `src/pool.py` by closing the pool in `__exit__`."
)


def test_a_turn_becomes_one_record_that_cites_its_prompt_and_its_answer() -> None:
    (draft,) = learned(
        prompt(1, "why do we run out of sockets?"), tool(2, "Grep", {"pattern": "x"}, ""), answer(3, CAUSE)
    )
    assert draft.title.startswith("The root cause is the connection pool")
    assert draft.summary.startswith("Asked: why do we run out of sockets?\n")
    assert "`Pool.close()` is never called" in draft.summary
    assert draft.source_event_ids == (event_id(1), event_id(3))
    assert (draft.observation_type, draft.origin) == (ObservationType.ERROR, Origin.ASSISTANT)


def test_the_files_of_a_turn_are_relative_to_the_project() -> None:
    edit = tool(2, "Edit", {"file_path": "/home/dev/shop/src/pool.py"}, "ok")
    read = tool(3, "Read", {"file_path": "/home/dev/shop/src/net.py"}, "...")
    (draft,) = learned(prompt(1, "why?"), edit, read, answer(4, CAUSE))
    assert draft.files_modified == ("src/pool.py",)
    assert draft.files_touched == ("src/pool.py", "src/net.py")


def test_a_tool_is_cited_only_when_it_shows_a_fact() -> None:
    commit = tool(3, "Bash", {"command": "git commit -m 'Close the pool when a request ends'"}, "[main 1a2b3c4]")
    (draft,) = learned(prompt(1, "fix it"), tool(2, "Bash", {"command": "ls"}, "a"), commit, answer(4, CAUSE))
    assert draft.source_event_ids == (event_id(1), event_id(3), event_id(4))
    assert draft.facts[-1] == "Committed: Close the pool when a request ends"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("hello", "Hello! How can I help you today?"),
        ("thanks", "You're welcome!"),
        ("commit this", "Committed as 3f2a9bc with the message you asked for, two files."),
        ("run the tests", "All 42 tests pass and the linter is clean."),
        ("continue", "API Error: 500 internal"),
        ("fix the comment", "Done. Removed the comment."),
    ],
)
def test_talk_yields_nothing(asked: str, answered: str) -> None:
    assert learned(prompt(1, asked), answer(2, answered)) == []


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("which port does the api listen on?", "It listens on 8443."),
        ("which db?", "PostgreSQL 16."),
        ("release branch?", "`release/2.4`"),
        ("what is the timeout of the pool", "30 seconds."),
        ("who owns the billing module?", "It is owned by Bert."),
        ("is caching on?", "No, it is off in production."),
        (
            "\u30c7\u30d7\u30ed\u30a4\u306f\u3044\u3064\u3067\u3059\u304b",
            "\u672c\u756a\u74b0\u5883\u3078\u306e\u30c7\u30d7\u30ed\u30a4\u306f\u6bce\u9031\u6728\u66dc\u65e5\u3067\u3059\u3002",
        ),
    ],
)
def test_a_short_answer_that_tells_what_was_asked_is_kept(asked: str, answered: str) -> None:
    (draft,) = learned(prompt(1, asked), answer(2, answered))
    assert draft.summary == f"Asked: {asked}\n{answered}"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("did it work?", "Yes, all good."),
        ("do all tests pass?", "No, 2 failed."),
        ("what did you change?", "Only the comment."),
        ("\u4f60\u597d", "\u4f60\u597d\uff01\u6709\u4ec0\u4e48\u53ef\u4ee5\u5e2e\u4f60\uff1f"),
    ],
)
def test_a_short_answer_about_the_moment_is_not(asked: str, answered: str) -> None:
    assert learned(prompt(1, asked), answer(2, answered)) == []


def test_an_unfinished_turn_waits_for_its_answer() -> None:
    asked = prompt(1, "why do we run out of sockets?")
    assert learned(asked) == []
    (draft,) = learned(answer(2, CAUSE), earlier=(asked,))
    assert draft.source_event_ids == (event_id(1), event_id(2))


def test_an_interrupted_prompt_is_cited_with_the_next() -> None:
    (draft,) = learned(prompt(1, "look at the sockets"), prompt(2, "I mean those of the pool"), answer(3, CAUSE))
    assert draft.source_event_ids == (event_id(1), event_id(2), event_id(3))


def test_a_rule_is_kept_at_once_in_the_users_words() -> None:
    (draft,) = learned(prompt(1, "Always use pnpm here, never npm."))
    assert (draft.title, draft.summary) == ("Always use pnpm here, never npm.",) * 2
    assert (draft.observation_type, draft.knowledge_type) == (ObservationType.DECISION, KnowledgeType.CONSTRAINT)
    assert (draft.origin, draft.importance) == (Origin.USER, 8)
    assert draft.source_event_ids == (event_id(1),)


def test_a_rule_is_not_kept_again_when_its_answer_comes() -> None:
    assert learned(answer(2, "Understood!"), earlier=(prompt(1, "Always use pnpm here, never npm."),)) == []


def test_a_told_cause_that_comes_again_as_context_is_not_learned_again() -> None:
    told = prompt(1, "The root cause is that `close()` is never called on the pooled sockets.")
    assert len(learned(told, answer(2, "Understood!"))) == 1
    assert learned(answer(2, "Understood!"), earlier=(told,)) == []


def test_a_rule_with_its_answer_is_one_record() -> None:
    reply = "I replaced the npm lockfile with `pnpm-lock.yaml` and changed the three scripts that called npm."
    (draft,) = learned(prompt(1, "Always use pnpm here, never npm."), answer(2, reply))
    assert draft.title == "Always use pnpm here, never npm."
    assert "pnpm-lock.yaml" in draft.summary
    assert draft.knowledge_type is KnowledgeType.CONSTRAINT


def test_a_rule_inside_a_task_is_a_memory_of_its_own() -> None:
    task = "Please migrate the billing tables to the new schema. " + "They hold invoices of all customers. " * 10
    done, rule = learned(prompt(1, task + "Never drop a column."), answer(2, CAUSE))
    assert (done.knowledge_type, rule.knowledge_type) == (None, KnowledgeType.CONSTRAINT)
    assert (rule.title, rule.origin) == ("Never drop a column.", Origin.USER)


def test_what_a_short_prompt_asks_next_to_its_rule_has_a_title_of_its_own() -> None:
    asked = "Login drops after 15 minutes. Find out why. And always use pnpm here, never npm."
    reply = "The expiry check ran before the token refresh, so every login was dropped. I swapped both in src/auth.ts."
    found, rule = learned(prompt(1, asked), answer(2, reply))
    assert (found.title, found.knowledge_type) == (
        "The expiry check ran before the token refresh, so every login was dropped.",
        None,
    )
    assert (rule.title, rule.knowledge_type) == ("Always use pnpm here, never npm.", KnowledgeType.CONSTRAINT)


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "ok so we always deploy from the release branch, not from main",
            "We always deploy from the release branch, not from main",
        ),
        ("Also, please never touch the generated files in src/gen.", "Never touch the generated files in src/gen."),
        ("hm, no - the port is read from PORT_API, not from PORT", "The port is read from PORT_API, not from PORT"),
        ("We use uv here, not poetry btw.", "We use uv here, not poetry"),
        ("and pin every dependency", "Pin every dependency"),
        ("No force pushes in this repo, ever.", "No force pushes in this repo, ever."),
        ("Well known ports must never be hard-coded here", "Well known ports must never be hard-coded here"),
    ],
)
def test_the_title_of_a_rule_leaves_out_what_joins_it_to_the_talk(said: str, title: str) -> None:
    (draft,) = learned(prompt(1, said), answer(2, "Understood, I will."))
    assert (draft.title, draft.summary, draft.facts) == (title, title, ())


def test_a_title_that_begins_with_a_command_has_its_letters() -> None:
    (draft,) = learned(
        prompt(1, "what fills the shop?"),
        answer(2, "`pnpm db:seed --demo` fills it with 200 products and three users."),
    )
    assert draft.title == "pnpm db:seed --demo fills it with 200 products and three users."


@pytest.mark.parametrize(
    "report",
    [
        "prices are shown without the tax on the receipt",
        "Jobs are started twice when the worker restarts.",
        "the search times out for large tenants",
        "Thumbnails are missing since the last release. Why?",
        "the export doesn't contain archived orders",
        "should we store money as float or decimal",
    ],
)
def test_a_fault_that_a_person_reports_is_no_rule(report: str) -> None:
    drafts = learned(prompt(1, report), answer(2, CAUSE))
    assert [draft.knowledge_type for draft in drafts] == [None]


def test_a_nod_next_to_a_rule_is_no_task() -> None:
    reply = "Got it: from now on I run pnpm install for all packages, since npm would write a second lock file."
    (draft,) = learned(prompt(1, "please always use pnpm. ok?"), answer(2, reply))
    assert draft.knowledge_type is KnowledgeType.CONSTRAINT


@pytest.mark.parametrize("said", ["Dates are stored in UTC, not in local time.", "Reports use DD/MM/YYYY."])
def test_a_convention_that_an_agent_had_broken_is_a_rule(said: str) -> None:
    drafts = learned(
        prompt(1, said), answer(2, "Fixed: `created_at` is stored in UTC now, and reports show DD/MM/YYYY.")
    )
    assert any(draft.knowledge_type is KnowledgeType.CONSTRAINT for draft in drafts)


def test_each_rule_of_a_prompt_is_a_memory_of_its_own() -> None:
    said = "Never push to main. Always use pnpm here. Never log user emails."
    drafts = learned(prompt(1, said), answer(2, "Understood."))
    assert [draft.title for draft in drafts] == [
        "Never push to main.",
        "Always use pnpm here.",
        "Never log user emails.",
    ]
    assert all(draft.knowledge_type is KnowledgeType.CONSTRAINT and draft.summary == draft.title for draft in drafts)
    assert {draft.source_event_ids for draft in drafts} == {(event_id(1),)}


def test_rules_of_turns_that_no_answer_ends_are_memories_of_their_own_prompts() -> None:
    drafts = learned(
        prompt(1, "Never push to main."), prompt(2, "Always use pnpm here."), prompt(3, "never push to main.")
    )
    assert [(draft.title, draft.source_event_ids) for draft in drafts] == [
        ("Never push to main.", (event_id(1),)),
        ("Always use pnpm here.", (event_id(2),)),
    ]


def test_what_answers_several_rules_is_a_memory_beside_them() -> None:
    first, *rules = learned(prompt(1, "Never push to main. Always use pnpm here."), answer(2, CAUSE))
    assert (first.knowledge_type, first.origin) == (None, Origin.ASSISTANT)
    assert [rule.title for rule in rules] == ["Never push to main.", "Always use pnpm here."]


@pytest.mark.parametrize(
    "reply", ["Done.", "I scaffolded the server in `src/server.ts`, with a type provider for Zod."]
)
def test_a_choice_beside_a_rule_is_a_memory_of_its_own(reply: str) -> None:
    choice = "Use Fastify, not Express, because we need schema validation out of the box."
    drafts = learned(prompt(1, f"{choice} Money is always integer cents, never floats."), answer(2, reply))
    assert sorted((draft.title, draft.knowledge_type, draft.origin) for draft in drafts) == [
        ("Money is always integer cents, never floats.", KnowledgeType.CONSTRAINT, Origin.USER),
        (choice, KnowledgeType.DECISION, Origin.USER),
    ]


@pytest.mark.parametrize("reply", ["Done.", "OK, I've changed it in app/settings.py and updated the tests."])
def test_a_persons_reasoned_choice_is_their_decision_whatever_the_answer_says(reply: str) -> None:
    said = "Store the sessions in Postgres, because Redis is not backed up"
    (draft,) = learned(prompt(1, said), answer(2, reply))
    assert (draft.title, draft.knowledge_type, draft.origin) == (said, KnowledgeType.DECISION, Origin.USER)


def test_a_choice_is_a_decision_even_when_the_answer_is_short() -> None:
    (draft,) = learned(prompt(1, "let's go with SQLite"), answer(2, "Switched the store to SQLite."))
    assert (draft.observation_type, draft.knowledge_type) == (ObservationType.DECISION, KnowledgeType.DECISION)


def test_what_the_summary_has_no_room_for_becomes_facts() -> None:
    long_answer = CAUSE + "\n\n" + "The pool is shared by all workers of a process. " * 20
    long_answer += "\n\nThe limit must stay below 512 because the kernel allows no more."
    (draft,) = learned(prompt(1, "why?"), answer(2, long_answer))
    assert len(draft.summary) < 1_000
    assert "The limit must stay below 512 because the kernel allows no more." in draft.facts


def test_a_note_is_remembered_and_a_session_start_is_not() -> None:
    (draft,) = learned(note(1, "session started"), note(2, "The staging database is read-only on Fridays, by policy."))
    assert draft.source_event_ids == (event_id(2),)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a",
            "a/",
            "a.",
            "A_",
            "aB",
            "a b. C ",
            "1. ",
            ". ",
            " ",
            "- ",
            "| ",
            "# ",
            "\n",
            "**a ",
            "*a",
            "[",
            "[a](",
            "`",
            '"',
        ),
        *("<system-reminder>", "<command-name> ", 'git commit -m "', "$(cat <<", "yes ", "https://a.b/", "always use "),
    ],
)
def test_no_text_takes_long_to_learn(piece: str) -> None:
    """A regular expression that backtracks would take minutes here, not milliseconds."""
    text = piece * (4_000 // len(piece))
    start = time.process_time()
    learned(prompt(1, text), tool(2, "Bash", {"command": text}, text), answer(3, f"{text} because of it"))
    assert time.process_time() - start < 1.0


LOOKING_BACK = (
    "This session moved the shop from one connection per request to a pool of ten, and found that timeouts come from "
    "the proxy in front of it."
)


def test_an_answer_to_nothing_sums_up_a_session() -> None:
    (draft,) = learned(answer(1, LOOKING_BACK))
    assert draft.observation_type is ObservationType.SESSION_SUMMARY
    assert draft.source_event_ids == (event_id(1),)


def test_a_summary_after_the_last_turn_is_told_from_that_turn() -> None:
    turn, summary = learned(prompt(1, "why do we run out of sockets?"), answer(2, CAUSE), answer(3, LOOKING_BACK))
    assert (turn.observation_type, summary.observation_type) == (ObservationType.ERROR, ObservationType.SESSION_SUMMARY)
    assert summary.source_event_ids == (event_id(3),)


@pytest.mark.parametrize(
    "led_to_it",
    [
        tool(1, "Bash", {"command": "ls"}, "a"),
        prompt(1, "This session is being continued from a previous conversation."),
    ],
)
def test_an_answer_to_something_that_no_person_typed_is_a_turns(led_to_it: Event) -> None:
    (draft,) = learned(led_to_it, answer(2, CAUSE))
    assert draft.observation_type is ObservationType.ERROR


def test_an_answer_whose_prompt_came_before_the_batch_is_a_turns() -> None:
    (draft,) = learned(answer(2, CAUSE), earlier=(prompt(1, "why do we run out of sockets?"),))
    assert draft.observation_type is ObservationType.ERROR


def test_a_note_sums_up_nothing() -> None:
    (draft,) = learned(note(1, CAUSE))
    assert draft.observation_type is ObservationType.ERROR


def test_markup_and_control_characters_come_through_as_a_model_would_be_shown_them() -> None:
    """The expected values come from a learner whose batch was written as text and parsed again."""
    talk = MessageBody(
        (
            Turn("user", "Always sign commits with <gpg>."),
            Turn("assistant", "Understood: from now on every commit of this repository is signed with gpg, always."),
        )
    )
    cause, rule = learned(
        prompt(1, "Why does <pay & go> fail?\n\x1b[31mred\x1b[0m \x00"),
        tool(2, "Edit", {"file_path": "/home/dev/shop/a<b>.py"}, "ok"),
        tool(3, "Bash", {"command": "git commit -m 'Pin <tls>'"}, "[main 1a2b3c4]"),
        answer(4, 'The cause is `a<b>.py`: the "tls" pin & the clock differ by 10 minutes.\r\nSee docs/pay.md.'),
        event(5, EventKind.SESSION_SUMMARY, talk, session="two"),
        earlier=(prompt(0, "before"),),
    )
    assert cause.title == 'The cause is a<b>.py: the "tls" pin & the clock differ by 10 minutes.'
    assert cause.summary.startswith("Asked: before / Why does <pay & go> fail? red \ufffd\nThe cause is `a<b>.py`")
    assert cause.source_event_ids == tuple(map(event_id, (0, 1, 3, 4)))
    assert cause.facts == ("Committed: Pin <tls>",)
    assert (cause.files_touched, cause.files_modified) == (("a<b>.py", "docs/pay.md"), ("a<b>.py",))
    assert rule.title == "Always sign commits with <gpg>."
    assert (rule.source_event_ids, rule.knowledge_type) == ((event_id(5),), KnowledgeType.CONSTRAINT)
    assert (rule.origin, rule.importance) == (Origin.USER, 8)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("how does it work?", "The cache is a map of paths.", ObservationType.DISCOVERY),
        ("why does it fail?", "The root cause is a stale lock.", ObservationType.ERROR),
        ("add a flag", "Added the flag `--quiet`.", ObservationType.TOOL_USE),
        ("redis?", "We decided against Redis last week.", ObservationType.DECISION),
        ("how do we name tests?", "The convention is a sentence.", ObservationType.PATTERN),
    ],
)
def test_the_content_tells_what_sort_of_memory_it_is(question: str, answer: str, expected: ObservationType) -> None:
    assert observation_type(question, answer, chosen=False, changed_files=False) is expected


def test_a_choice_comes_before_everything() -> None:
    found = observation_type("it fails", "The root cause is a stale lock.", chosen=True, changed_files=True)
    assert found is ObservationType.DECISION


def test_a_change_that_tools_show_may_be_told_late() -> None:
    answer = "The limit was too low for uploads from the mobile application, as it seems. I changed it."
    assert observation_type("x", answer, chosen=False, changed_files=True) is ObservationType.TOOL_USE
    assert observation_type("x", answer, chosen=False, changed_files=False) is ObservationType.DISCOVERY


def test_knowledge_is_typed_only_where_a_person_said_so() -> None:
    assert knowledge_type(rules=True, chosen=True) is KnowledgeType.CONSTRAINT
    assert knowledge_type(rules=False, chosen=True) is KnowledgeType.DECISION
    assert knowledge_type(rules=False, chosen=False) is None


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            "thanks, works. the cause was: order.total was a Decimal, Stripe wants cents as integers",
            "Stripe wants cents",
        ),
        ("Found it: turns out the proxy strips the Authorization header on redirects.", "strips the Authorization"),
        ("danke, l\u00e4uft. Ursache war: order.total war ein Decimal in Euro, Stripe will Cent", "Stripe will Cent"),
        ("found it: the cron ran in UTC and we compared with local time", "The cron ran in UTC"),
        ("the flaky test was caused by a temp folder that two tests share", "a temp folder"),
        ("never mind, it was because the clock of the container was five minutes late", "five minutes late"),
    ],
)
def test_a_cause_that_a_person_tells_is_kept(said: str, cause: str) -> None:
    (draft,) = learned(prompt(1, said), answer(2, "Great!"))
    assert cause in draft.summary
    assert draft.origin is Origin.USER


@pytest.mark.parametrize(
    "said",
    [
        "what is the cause of the timeout?",
        "the reason is unclear to me",
        "the problem is that the button does not react",
        "turns out fine",
    ],
)
def test_what_tells_no_cause_is_not_kept(said: str) -> None:
    assert learned(prompt(1, said), answer(2, "Great!")) == []
