from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.durable import choice_in, chosen_in, laid_down_in


@pytest.mark.parametrize(
    "prompt",
    [
        "always use pnpm here, never npm",
        "Never commit to main.",
        "please never edit generated files",
        "We don't use mocks in integration tests.",
        "From now on write the changelog in German.",
        "we use tabs, not spaces",
        "I prefer small pull requests",
        "you should always run the linter first",
        "Our convention is snake_case for tables.",
        "The API is public, so never change its field names.",
        "Remember that staging is read-only.",
        "Use the repository pattern here, we don't use active record.",
        "Don\u2019t ever force-push",
        "The agent should NEVER print (e.g. cat) any environment files!!",
        "NEVER merge on a red build",
        "dont forget to branch off main and not the current branch.",
        "Also, I basically never want this env file to change.",
        "the full schema should not be updated ever, it is a snapshot",
        "write me a cursor rule that prevents the agent from running several commands in one line",
    ],
)
def test_a_rule_is_recognised(prompt: str) -> None:
    assert len(laid_down_in(prompt)) == 1


@pytest.mark.parametrize(
    "prompt",
    [
        "why does it always fail?",
        "never mind",
        "the tests never pass on CI",
        "do we always use pnpm here?",
        "it always shows the old value",
        "THIS NEVER WORKS ON CI",
        "can you add a rule for the linter?",
        "the job NEVER ends, why?",
        "I prefer option 2",
        "fix the login page",
        "should we never cache this",
        "use pnpm",
    ],
)
def test_what_is_said_of_the_moment_is_no_rule(prompt: str) -> None:
    assert laid_down_in(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "we use serializable everywhere dont we",
        "we only keep logs 30 days right",
        "we never run migrations on start, correct",
        "we never push to main, do we",
        "the api always returns utc, right",
        "i want to swap goose for atlas, thoughts",
        "thinking of moving the queue from SQS to NATS, wdyt",
        "lets say we drop the nat gateway, what breaks",
        "were we going to drop redis or not",
        "we moved to otel last month didnt we, how did that go",
        "im out, bye",
        "we're out of coffee lol",
        "heading home, see ya",
        "Keep that in mind.",
        "please always keep this in mind",
        "whats in this repo, give me the 1 min version",
        "how is it always that slow",
        "Frontend Unit Tests Mixed 69 16 85 81%",
    ],
)
def test_a_question_or_an_idea_without_a_mark_and_a_goodbye_lay_nothing_down(prompt: str) -> None:
    assert laid_down_in(prompt) == []
    assert chosen_in(prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "never force push, it breaks the mirror",
        "we never push to main, do you understand that",
        "never put the type on the right",
        "always run the linter before you commit lol",
        "Always use tabs in Makefiles, and never push to main without asking me, yes",
        "should the API break, always bump the major version",
        "whats generated must never be edited by hand",
        "we don't use mocks in integration tests, they are never right",
    ],
)
def test_a_rule_that_ends_like_a_question_stays_one(prompt: str) -> None:
    assert laid_down_in(prompt) != []


RULE = "Always use pnpm here, never npm."


@pytest.mark.parametrize(
    "prompt",
    [
        f"put this into the template:\n```\n{RULE}\n```\nthanks",
        f"put this into the template:\n~~~md\n{RULE}",
        f"which key is this?\n\n----\n\nAPI keys\n{RULE}",
        f"which key is this?\n---\n{RULE}\n---\nand where is it set?",
        f"Implement the following plan:\n\n# Plan: one package manager\n\n{RULE}",
        f"please carry out this plan:\n\n1. remove npm\n2. {RULE}",
        f"here is my feedback:\n- [ ] {RULE}\nwhy?",
    ],
)
def test_a_rule_in_a_code_block_below_a_line_in_a_plan_or_as_a_task_is_not_the_persons(prompt: str) -> None:
    assert laid_down_in(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        f"{RULE}\n```\nnpm ERR!\n```",
        f"```\nnpm ERR!\n```\n{RULE}",
        f"{RULE}\n---\nnpm ERR!",
        f"we use tabs, not spaces.\n\n---\n\n{RULE}",
        f"our rules\n-----\n{RULE}",
        f"see this:\n---\nnpm ERR!\n---\n{RULE}",
        f"our rules:\n- [x] {RULE}",
        f"the plan is fine.\n\n{RULE}",
    ],
)
def test_a_rule_beside_pasted_text_is_the_persons(prompt: str) -> None:
    assert laid_down_in(prompt) != []


def test_a_rule_is_found_among_other_sentences() -> None:
    assert laid_down_in("Fix the login page. Always use pnpm here.") == ["Always use pnpm here."]


def test_a_paste_lays_down_nothing() -> None:
    assert laid_down_in("Never commit to main.\n" + "log line\n" * 300) == []
    assert choice_in("Option B\n" + "log line\n" * 300) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "let's go with SQLite",
        "Option B",
        "2",
        "1 and 3",
        "ok, do 2 please",
        "no, we removed that on purpose",
        "I like the second",
    ],
)
def test_a_choice_is_recognised(prompt: str) -> None:
    assert choice_in(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    ["yes", "what do you think?", "should we go with SQLite?", "I'd like to see the logs", "1. Rename it\n2. Test it"],
)
def test_what_decides_nothing_is_no_choice(prompt: str) -> None:
    assert choice_in(prompt) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "no, don't commit without running the tests",
        "stop editing src/gen/ by hand, it is generated",
        "do not create any new unit tests.",
        "I told you to use pnpm, not npm",
        "you forgot to run the tests before committing",
        "dont push to main, open a pull request",
        "not npm, use bun",
    ],
)
def test_a_correction_that_names_an_act_is_recognised(prompt: str) -> None:
    assert laid_down_in(prompt) == [prompt]


@pytest.mark.parametrize(
    "prompt",
    [
        "no, don't commit this yet",
        "don't push now",
        "don't worry about the tests",
        "no, ignore this part",
        "do you push to main?",
        "stop for a second",
        "no code.",
        "don't switch models. " + "x" * 1_500,
    ],
)
def test_what_corrects_the_moment_or_names_no_act_is_no_rule(prompt: str) -> None:
    assert laid_down_in(prompt) == []


def test_what_was_said_before_is_a_rule_even_where_it_speaks_of_this() -> None:
    assert laid_down_in("I told you again not to commit this to main") != []


def test_a_rule_is_found_behind_a_full_stop_and_a_small_letter() -> None:
    assert laid_down_in("add it to the list. dont forget to branch off main") == ["dont forget to branch off main"]


def test_a_rule_in_the_middle_of_a_sentence_may_forbid_more_than_a_few_verbs() -> None:
    said = "customers read from right to left, so never hardcode margin-left"
    assert laid_down_in(said) == [said]


@pytest.mark.parametrize(
    "prompt",
    [
        # rules about all things of a kind
        "every route needs a response_model, otherwise the openapi client breaks",
        "all timestamps must be stored in UTC",
        "secrets never go into .env.example",
        "make sure every new endpoint has a test",
        "nobody should edit CHANGELOG.md by hand, it's generated",
        "Remember: screenshots for PRs go to docs/shots, named by ticket",
        # an occasion, and what to do then
        "ask me before you add a dependency",
        "you should ask me before you install a package",
        "before pushing, run make lint",
        "whenever you change the schema, regenerate the client with `make client`",
        # one thing and not another
        "use uv, not pip",
        "right, forget npm, always pnpm in this repo",
        "integer cents everywhere, never floats",
        # prohibitions
        "no emojis in commit messages",
        "please, no default exports",
        "I don't want any mocks in integration tests",
        "actually, don't use any in typescript, ever",
        "please don't force push on this repo, others work on main",
        "please don't touch packages/legacy-checkout, it's frozen until the audit in March",
        "answer in German please, always",
    ],
)
def test_what_is_less_plain_is_a_rule_by_its_signs(prompt: str) -> None:
    assert laid_down_in(prompt) == [prompt]


@pytest.mark.parametrize(
    "prompt",
    [
        # text that is quoted, reported, or to be edited
        "Summarise this license: You must not sublicense the software. Never remove the copyright notice.",
        'The log says: "Never call setState inside render".',
        "Write a README that says: always run npm install first",
        "I'm writing an email to Bob: we never use overtime here, so please plan accordingly",
        "Add a tooltip: Never share your password",
        "Here is the prompt for the bot: You are a chef. Never suggest meat.",
        "My colleague said we should never use threads.",
        "write a test that the parser never use more than 10 MB",
        # requests for the moment
        "don't forget to save",
        "remember to check the logs when it's done",
        "make sure you always show me the diff of this change before you apply it",
        "it's important that you finish this by 5pm",
        "before we start, tell me what you know",
        "please don't stop until the tests are green",
        "don't write code yet",
        "do not run the tests",
        "dont forget to switch to a fresh branch cause this one is merged already",
        # reports, complaints and chat
        "you never know",
        "agents always fail at this step",
        "always the same error",
        "You should always get 200 from this endpoint but I get 404",
        "from now on the server returns 500",
        "in future we may want to support Oracle",
        "every test fails",
        "the page must be broken",
        "jobs never finish",
        "use the blue button, never mind the red one",
        "no errors in the console",
    ],
)
def test_talk_reports_and_orders_of_the_moment_are_no_rules(prompt: str) -> None:
    assert laid_down_in(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Create a form. Every field needs a label.",
        "Add a cache. Use redis, not memcached.",
        "Fix the typo. No other changes please.",
        "Why is this slow? We use postgres, not sqlite.",
    ],
)
def test_what_is_wanted_of_one_piece_of_work_is_no_rule(prompt: str) -> None:
    assert laid_down_in(prompt) == []


def test_a_no_ends_a_sentence_and_before_a_number_it_does_not() -> None:
    assert laid_down_in("NO. never force push here! rebase instead.") == ["never force push here!"]
    assert laid_down_in("No. Use ripgrep, not grep.") == ["Use ripgrep, not grep."]
    assert laid_down_in("Always cite issue no. 5 in commits.") == ["Always cite issue no. 5 in commits."]


def test_what_a_person_typed_around_a_paste_counts() -> None:
    paste = "\n\n" + "log line\n" * 300 + "\n"
    assert laid_down_in(f"Never commit to main.{paste}What broke?") == ["Never commit to main."]
    assert laid_down_in(f"It broke.{paste}Never log user emails.") == ["Never log user emails."]
    assert laid_down_in(f"Add this to prompt.md{paste}Never suggest meat.") == []


def test_each_line_of_a_list_of_rules_is_one() -> None:
    said = "Rules for this repo:\n- tabs in all files\n- use uv, not pip\n- small commits please"
    assert laid_down_in(said) == ["tabs in all files", "use uv, not pip", "small commits please"]


def test_a_rule_behind_one_on_commit_messages_is_a_rule() -> None:
    prompt = "Commit messages: in English, please. And never edit files below packages/api/src/generated."
    assert "And never edit files below packages/api/src/generated." in laid_down_in(prompt)
