"""Prompts that set a goal or ask about the past, and prompts that only continue."""

import pytest

from kiro_learn.model.profile import Slot
from kiro_learn.retrieval.query.prompt_kind import (
    BROUGHT_CHARACTERS,
    MOST_NAMES,
    PromptKind,
    kind_of,
    names_in,
    slots_of,
)
from kiro_learn.retrieval.query.question import Query

PLAN = "Implement the following plan:\n\n# Move the cache\n\n## Why\n\n" + "It expires too early in two places. " * 60


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("why does the token cache expire early?", PromptKind.QUESTION),
        ("the cache is empty after a restart. is that on purpose?", PromptKind.QUESTION),
        ("make the token cache survive a restart", PromptKind.TASK),
        ("can you make the token cache survive a restart?", PromptKind.TASK),
        ("the login fails since the upgrade, could you check why it does?", PromptKind.TASK),
        (
            "can you group the files of the plan? roughly one folder for tests, one for the rest?",
            PromptKind.TASK,
        ),
        ("I moved to a new machine. Can you install the tools? And is there anything else I need?", PromptKind.TASK),
        ("in pool.go:296 we open the lock as `root` could we change this to use the current user?", PromptKind.TASK),
        ("the import flags what is missing. can we just fetch it instead?", PromptKind.TASK),
        ("I don't remember which error it was but can you check whether we print it twice?", PromptKind.TASK),
        ("can you tell me which port the relay listens on?", PromptKind.QUESTION),
        ("what can we use here instead of Redis?", PromptKind.QUESTION),
        ("can we remember the address in the browser?", PromptKind.QUESTION),
        ("/deploy staging", PromptKind.TASK),
        (PLAN, PromptKind.SELF_CONTAINED),
        ("can you review the changes in the local branch?", PromptKind.AT_HAND),
        ("can you review pr 227 for me?", PromptKind.AT_HAND),
        ("create a new branch and switch to it", PromptKind.AT_HAND),
        ("https://forge.example/team/app/pull/1972 lets look at this pr", PromptKind.AT_HAND),
        ("write a brief summary of my changes on this branch for the description", PromptKind.AT_HAND),
        ("look at commit c7a534e7b93622cf. Help me review.", PromptKind.AT_HAND),
        ("look at the diff of the last release and put the old names back", PromptKind.TASK),
        ("how do I fix this?", PromptKind.AT_HAND),
        ("how do I fix this timeout of the relay?", PromptKind.QUESTION),
        ("which port?", PromptKind.QUESTION),
        ("/check-todos", PromptKind.BARE_COMMAND),
        ("git status", PromptKind.BARE_COMMAND),
        ("git log -5", PromptKind.BARE_COMMAND),
        ("run git push origin main", PromptKind.BARE_COMMAND),
        ("git push fails", PromptKind.TASK),
        ("git rebase is broken", PromptKind.TASK),
        ("git pull times out", PromptKind.TASK),
        ("git branch naming convention", PromptKind.TASK),
        ("git diff HEAD~2 src/app.py", PromptKind.BARE_COMMAND),
        ("git pull says that the branches diverge", PromptKind.TASK),
        ("terraform state lock stuck again on prod", PromptKind.TASK),
    ],
)
def test_what_a_session_begins_with(prompt: str, kind: PromptKind) -> None:
    assert kind_of(prompt, prompt, sets_goal=True) is kind


LOG = "\n".join(f"2026-11-25T10:00:{second:02} worker 7: the pool is empty" for second in range(40))


@pytest.mark.parametrize(
    ("asked", "characters", "kind"),
    [
        ("The build fails since this morning. Can you fix it please?", BROUGHT_CHARACTERS, PromptKind.SELF_CONTAINED),
        ("The build fails since this morning. Can you fix it please?", BROUGHT_CHARACTERS // 2, PromptKind.TASK),
        ("Why does the build fail since this morning?", BROUGHT_CHARACTERS, PromptKind.QUESTION),
        ("Have we seen this in the build before?", BROUGHT_CHARACTERS, PromptKind.PAST),
    ],
)
def test_a_task_that_comes_with_its_log_brings_what_it_needs(asked: str, characters: int, kind: PromptKind) -> None:
    prompt = f"{asked}\n\n{LOG[:characters]}"
    assert kind_of(prompt, Query.of_prompt(prompt).meaning, sets_goal=True) is kind


@pytest.mark.parametrize(
    "prompt",
    [
        "remind me, what secrets do I need in the runner?",
        "what did we decide about the cache?",
        "why did we drop Redis?",
        "have we tried this with WAL before?",
        "can you tell me again how the lock works",
        "how did we fix the timeout last week?",
        "we ruled out polling in the previous session, didn't we",
        "search with mcp in the last chat",
        "can we continue where we left off?",
        "thanks. didn't we remove that record?",
        "was haben wir zum Cache entschieden?",
        "pourquoi avons-nous choisi Redis ?",
        "¿por qué elegimos Redis?",
        "なぜRedisをやめたのですか",
        "为什么当时决定用Redis",
    ],
)
def test_who_asks_about_the_past_is_told_at_any_time(prompt: str) -> None:
    assert kind_of(prompt, prompt, sets_goal=False) is PromptKind.PAST


@pytest.mark.parametrize(
    "prompt",
    [
        "yes, add a multi step test for this",
        "still failing",
        "how do i fix this?",
        "what do i do here?",
        "now rename it to pool_size",
        "what is the coverage of this function now?",
        "/check-todos and pick one",
        PLAN,
    ],
)
def test_what_follows_the_goal_of_a_session_is_a_step(prompt: str) -> None:
    assert kind_of(prompt, prompt, sets_goal=False) is PromptKind.STEP


def test_a_paste_that_mentions_the_past_does_not_ask_about_it() -> None:
    pasted = "the log of yesterday's run: " + "worker 7 went on with the queue; " * 40
    assert kind_of(pasted, pasted, sets_goal=False) is PromptKind.STEP


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("why does cmd/relay/main.go print the usage?", ("cmd/relay/main.go",)),
        ("is @docs/pool.md right about `pool_size`?", ("@docs/pool.md", "pool_size")),
        ("newSilentError and GetGitDir do that", ("newSilentError", "GetGitDir")),
        ("it redirects to localhost:1420 in the release", ("localhost:1420",)),
        ("it failed with ECONN_RESET in pool.py", ("ECONN_RESET", "pool.py")),
        ("ask GitHub or OpenAI, and/or TypeScript", ()),
        ("see https://example.com/pool/of/threads.html for it", ()),
        ("at 2025-09-19T18:41 it was 0.4.3, since commit af5a770", ()),
        ("commit this and push it", ()),
        ("yes/no/maybe, 24/7/365, dd/mm/yyyy on an iPhone, from 2026/11/27 on", ()),
        ("error:404 at line:20", ()),
        ("rename face.c and a_b", ("face.c", "a_b")),
        (
            " ".join(f"file{number}.py" for number in range(9)),
            tuple(f"file{number}.py" for number in range(MOST_NAMES)),
        ),
    ],
)
def test_the_files_identifiers_and_addresses_of_a_question(question: str, names: tuple[str, ...]) -> None:
    assert names_in(question) == names


def test_a_language_that_people_speak_is_no_slot_of_the_project() -> None:
    assert slots_of("In which language do we write texts for customers?", sets_goal=False) == ()
    assert Slot.LANGUAGE in slots_of("which language is this project written in?", sets_goal=False)


@pytest.mark.parametrize(
    "question",
    [
        "what was the bundle size with rspack back then?",
        "how much memory did the feature build need before we made it lazy?",
        "what did MinT cost us?",
        "did we look at pmtiles?",
        "warum sind wir eigentlich von RDS weg?",
        "wie hoch war der p95 direkt nach Aurora?",
        "haben wir mal XRechnung pur überlegt?",
    ],
)
def test_what_was_is_asked_in_many_ways(question: str) -> None:
    assert kind_of(question, question, sets_goal=False) is PromptKind.PAST


@pytest.mark.parametrize("question", ["tests?", "run the tests", "Run all the tests again"])
def test_a_bare_step_of_the_work_is_at_hand(question: str) -> None:
    assert kind_of(question, question, sets_goal=True) is PromptKind.AT_HAND
