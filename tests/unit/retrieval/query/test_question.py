from __future__ import annotations

import time

import pytest

from kiro_learn.model.event import Body, JsonBody, MessageBody, TextBody, Turn
from kiro_learn.retrieval.query.question import ENDS_CHARACTERS, MEANING_CHARACTERS, Query, common_words, query_text

# ruff: noqa: RUF001  # questions in other scripts, whose letters resemble Latin ones


QUESTION = "why does the session lock stay behind after a crash?"
TRACEBACK = """Traceback (most recent call last):
  File "/srv/shop/pool.py", line 80, in close
    self._release(lock)
  File "/srv/shop/locks.py", line 12, in _release
    raise StaleLockError(name)
shop.errors.StaleLockError: lock_manager refused the release"""
LOG = "\n".join(f"2026-02-03T10:00:{second:02} INFO worker {second} is ready to take a job" for second in range(40))
DIFF = "diff --git a/x.py b/x.py\nindex 83db48f..bf2a1c3 100644\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2"
FENCED = "```go\nfunc main() {\n\tdefer the lock is held here\n}\n```"
QUOTED = "> the lock is released by the worker that took it\n> and by nobody else, as far as we know"


@pytest.mark.parametrize("pasted", [TRACEBACK, LOG, DIFF, FENCED, QUOTED])
@pytest.mark.parametrize("text", ["{0}\n\n{1}", "{1}\n\n{0}", "{1}\n\n{0}\n\n{1}"])
def test_the_question_is_found_beside_what_was_pasted(pasted: str, text: str) -> None:
    assert Query.of_prompt(text.format(QUESTION, pasted)).meaning == QUESTION


def test_a_paste_that_ends_within_its_fence_hides_no_question() -> None:
    assert Query.of_prompt(f"```go\nfunc main() {{\n}}\n```\n\n```\n\tx := 1\n\n{QUESTION}").meaning == QUESTION


def test_names_in_error_lines_are_looked_up_too() -> None:
    query = Query.of_prompt(f"{QUESTION}\n\n{TRACEBACK}")
    assert query.words.splitlines() == [QUESTION, "StaleLockError", "lock_manager"]


def test_what_is_typed_around_a_paste_belongs_together() -> None:
    prompt = f"I get this when the worker is killed.\n\n{TRACEBACK}\n\nwhat holds the lock?"
    assert Query.of_prompt(prompt).meaning == "what holds the lock?\nI get this when the worker is killed."


def test_a_typed_list_that_a_line_announces_belongs_to_the_task() -> None:
    task = "based on scripts/second_session.sh can you do another script that would:"
    steps = ["- do a session, and check that there is a shadow branch", "- do a restore of all the changes"]
    query = Query.of_prompt(
        "\n\n".join([task, "\n".join(f"  {step}" for step in steps), "It runs for a minute or so."])
    )
    assert query.meaning.splitlines()[:3] == [task, *steps]


def test_a_list_of_what_a_program_wrote_belongs_to_no_task() -> None:
    task = "can you look at what this run says of the cache, it is red since the merge of yesterday:"
    log = "- test_pool FAILED [ 12%]\n- test_lock PASSED [ 25%]"
    assert Query.of_prompt(f"{task}\n\n{log}").meaning == task


@pytest.mark.parametrize("prompt", ["fix it", "EntryPoint.load failed", "error: lock refused", QUESTION])
def test_a_short_prompt_is_a_question_whatever_it_looks_like(prompt: str) -> None:
    assert Query.of_prompt(f"  {prompt}\n") == Query(prompt, prompt)


def test_where_nothing_was_typed_all_of_it_counts() -> None:
    assert Query.of_prompt(TRACEBACK) == Query.of_text(TRACEBACK)


def test_of_a_long_text_the_question_comes_first_for_the_model_reads_no_more() -> None:
    story = "\n\n".join(f"In step {number} the worker takes the lock and gives it back." for number in range(60))
    query = Query.of_prompt(f"{story}\n\n{QUESTION}")
    assert query.meaning.startswith(QUESTION)
    assert len(query.meaning) <= MEANING_CHARACTERS


def test_both_ends_of_a_very_long_text_are_searched_for() -> None:
    query = Query.of_text("first " + "x" * 100_000 + " last")
    assert query.words.startswith("first")
    assert query.words.endswith("last")
    assert len(query.words) <= 2 * ENDS_CHARACTERS + 1


@pytest.mark.parametrize("text", ["", " \n ", "???", "```", "\n\n```\n\n"])
def test_a_prompt_without_words_is_no_question(text: str) -> None:
    assert not any(character.isalnum() for character in Query.of_prompt(text).words)


def test_a_question_between_fences_was_pasted() -> None:
    pasted = "```\nwhy does the worker that was killed hold the lock?\n```"
    assert Query.of_prompt(f"{pasted}\n\n{QUESTION}").meaning == QUESTION


@pytest.mark.parametrize(
    "question",
    [
        "Warum stürzt der Kernel beim Zusammenführen ab?",
        "Warum ist der Kernel beim Laden weg",
        "pourquoi le noyau plante lors de la jointure",
        "por qué falla la conexión con el servidor",
        "perché il server non risponde",
        "почему падает ядро при слиянии таблиц",
        "为什么内核崩溃了？",
        "为什么合并表的时候内核崩溃了",
        "カーネルが落ちるのはなぜですか？",
        "왜 커널이 죽나요",
        "لماذا ينهار النظام عند الدمج؟",
        "למה הליבה קורסת בזמן המיזוג",
        "कर्नेल मर्ज के समय क्यों गिरता है",
        "ทำไมเคอร์เนลถึงล่มตอนรวมตาราง",
    ],
)
@pytest.mark.parametrize("pasted", [TRACEBACK, LOG, DIFF, FENCED])
@pytest.mark.parametrize("text", ["{0}\n\n{1}", "{1}\n\n{0}", "{1}\n\n{0}\n\n{1}"])
def test_a_question_in_any_language_is_found_beside_what_was_pasted(question: str, pasted: str, text: str) -> None:
    assert Query.of_prompt(text.format(question, pasted)).meaning == question


@pytest.mark.parametrize("text", ["{0}\n{1}", "{1}\n{0}"])
def test_a_question_right_beside_a_fence_is_typed(text: str) -> None:
    question = "why is the lock held here after a crash"
    assert Query.of_prompt(text.format(question, FENCED)).meaning == question


def test_a_question_alone_in_the_middle_of_a_very_long_paste_is_found() -> None:
    pasted = "\n".join([LOG] * 10)
    assert len(pasted) > ENDS_CHARACTERS
    assert Query.of_prompt(f"{pasted}\n\n{QUESTION}\n\n{pasted}").meaning == QUESTION


def test_thousands_of_questions_are_read_in_a_moment() -> None:
    prompt = "aaa?\n\n" * 80_000
    began = time.perf_counter()
    Query.of_prompt(prompt)
    assert time.perf_counter() - began < 3, "a tenth of a second, unless each question is compared with each other"


def test_the_words_of_most_texts_come_first() -> None:
    texts = ["Parser, lexer and token", "the parser drops a token", "parser_error = 3", "nothing of that"]
    assert common_words(texts, least=2, most=10) == ("parser", "token")


def test_a_text_counts_once_however_often_it_says_a_word() -> None:
    assert common_words(["again again again", "once"], least=2, most=10) == ()


def test_of_very_many_the_commonest_are_named() -> None:
    texts = ["red", "red green", "red green blue"]
    assert common_words(texts, least=1, most=2) == ("red", "green")


def test_words_that_only_carry_grammar_are_never_looked_up() -> None:
    assert common_words(["this is the", "this is the"], least=2, most=10) == ()


def test_a_part_of_an_identifier_is_a_word() -> None:
    assert common_words(["parser_error = 3", "an error"], least=2, most=10) == ("error",)


CONVERSATION = MessageBody((Turn("user", "earlier"), Turn("assistant", "so?"), Turn("user", "why is it slow?")))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (TextBody("  how do I clean up?\n"), "  how do I clean up?\n"),
        (CONVERSATION, "why is it slow?"),
        (JsonBody({"tool": "Grep", "hits": [1, None]}), '{"tool":"Grep","hits":[1,null]}'),
        (JsonBody("größe"), '"größe"'),
    ],
    ids=["a text as it stands", "a conversation's last turn", "compact JSON", "readable JSON"],
)
def test_each_shape_of_prompt_has_its_text(body: Body, expected: str) -> None:
    assert query_text(body) == expected
