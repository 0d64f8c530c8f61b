"""Who follows an advice with a reason decides, though their own words say little."""

from __future__ import annotations

import pytest

from kiro_learn.model.draft import RecordDraft
from kiro_learn.model.record import KnowledgeType, Origin
from tests.unit.learning.histories import answer, learned, prompt

ALEMBIC = (
    "should we take plain sql files instead of alembic?",
    "I'd stay with Alembic: 63 migrations exist already and autogenerate catches drift.",
)
LOGIN = (
    "should the login use passwords or rather an email link?",
    "I'd recommend **email magic links**: your users are companies, and nobody resets a password. Shall I start?",
)
LOADER = (
    "polars or pandas for the new loader?",
    "I'd take polars, because the files are 8 GB and pandas would need 40 GB of memory. Shall I write it?",
)
FILES = (
    "where should the parquet files go, s3 or kelvin?",
    "I would put them on S3. The disk of kelvin has 200 GB left, and there is no backup of it.",
)
LISTED = (
    "what do you think, should we take sql files instead of alembic?",
    "I'd stay with Alembic:\n\n- 63 migrations exist already\n- Autogenerate catches drift\n\nPlain SQL is simpler.",
)
NUMBERED = (
    "should the login use passwords or an email link?",
    "I'd recommend **email links**, since:\n\n1. Your users are companies\n2. The library has it\n\nShall I?",
)


def decisions(talk: tuple[str, str], reaction: str, end: str = "OK!") -> list[RecordDraft]:
    asked, advised = talk
    kept = learned(prompt(1, asked), answer(2, advised), prompt(3, reaction), answer(4, end))
    return [draft for draft in kept if draft.knowledge_type is KnowledgeType.DECISION and draft.origin is Origin.USER]


@pytest.mark.parametrize(
    ("talk", "reaction", "reason"),
    [
        (ALEMBIC, "ok, alembic stays", "63 migrations exist already"),
        (ALEMBIC, "ok we stay with alembic then", "63 migrations exist already"),
        (ALEMBIC, "you convinced me, so alembic stays", "63 migrations exist already"),
        (ALEMBIC, "alembic stays.", "63 migrations exist already"),
        (LISTED, "you convinced me, so alembic stays", "63 migrations exist already; Autogenerate catches drift"),
        (NUMBERED, "yes please then with the email link", "Your users are companies; The library has it"),
        (LOGIN, "yes please then with the email link", "your users are companies"),
        (LOADER, "yes do it with polars please", "pandas would need 40 GB"),
        (LOADER, "makes sense, polars it is", "pandas would need 40 GB"),
        (FILES, "you are right, s3 then", "kelvin has 200 GB left"),
    ],
)
def test_an_advice_that_is_followed_is_a_decision_with_its_reason(
    talk: tuple[str, str], reaction: str, reason: str
) -> None:
    (draft,) = decisions(talk, reaction)
    assert reason in draft.summary
    assert draft.title.casefold().startswith(talk[0].rstrip("?").casefold())


def test_the_reason_is_kept_where_the_next_answer_says_more() -> None:
    (draft,) = decisions(LOGIN, "yes please with the email link", "I've implemented the link in `LoginView.swift` now.")
    assert "nobody resets a password" in "\n".join((draft.title, draft.summary, *draft.facts))


@pytest.mark.parametrize(
    ("talk", "reaction"),
    [
        (ALEMBIC, "ok, but show me alembic first"),
        (ALEMBIC, "are you sure that alembic stays?"),
        (ALEMBIC, "ok thanks"),
        (LOADER, "ok then pandas"),
        (LOADER, "ok, now write a test for the polars schema"),
        (("how does the login work?", "The login uses links: the users are companies."), "ok, with the links then"),
    ],
)
def test_what_follows_no_advice_is_no_decision(talk: tuple[str, str], reaction: str) -> None:
    assert not [draft for draft in decisions(talk, reaction) if "\u2192" in draft.title]


@pytest.mark.parametrize("said", ["ok bcrypt", "so argon2 or bcrypt", "ok, write argon2 tests"])
def test_who_names_the_other_way_a_question_or_more_work_does_not_agree(said: str) -> None:
    asked = (
        prompt(1, "should we hash with argon2 or bcrypt?"),
        answer(2, "I'd suggest argon2 over bcrypt, because it is memory-hard."),
    )
    assert not any("memory-hard" in draft.title for draft in learned(*asked, prompt(3, said), answer(4, "Done."))[1:])
