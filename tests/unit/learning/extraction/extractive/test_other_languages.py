# ruff: noqa: RUF001  # words of other scripts, whose letters resemble Latin ones
"""In other languages, too, rules differ from complaints and questions, and causes are kept."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.durable import laid_down_in, only_lays_down
from kiro_learn.learning.extraction.extractive.vocabulary import is_english
from tests.unit.learning.histories import answer, learned, prompt, tool


@pytest.mark.parametrize(
    "said",
    [
        "Benutze niemals float für Geld, immer Decimal.",
        "Bitte schreib Commits immer auf Deutsch.",
        "Wir verwenden nie Floats für Preise.",
        "Ab sofort läuft alles über pnpm.",
        "N'utilise jamais npm ici.",
        "Utilise toujours pnpm.",
        "Usa siempre pnpm en este proyecto.",
        "Nunca uses npm en este proyecto.",
        "Use sempre pnpm neste projeto.",
        "Gebruik altijd pnpm in dit project.",
        "Всегда используй pnpm в этом проекте.",
        "モデルクラスは必ずfreezedを使ってください。",
        "手書きのcopyWithは禁止です。",
        "mainに直接pushしないでください。",
        "必须使用pnpm，不要用npm",
        "항상 pnpm을 사용하세요.",
    ],
)
def test_a_rule_is_one_in_these_languages(said: str) -> None:
    assert laid_down_in(said) == [said]
    assert only_lays_down(said)


@pytest.mark.parametrize(
    "said",
    [
        "Es geht immer noch nicht.",
        "Immer dieser Fehler beim Start!",
        "Das hat noch nie funktioniert.",
        "Der Build läuft immer auf dem alten Rechner.",
        "Warum benutzen wir nie Decimal?",
        "Toujours la même erreur au démarrage.",
        "Le test échoue toujours sur CI.",
        "Nunca funciona en mi máquina.",
        "Siempre falla el mismo test.",
        "Всё ещё не работает.",
        "必ず失敗するのはなぜですか？",
        "テストが通りませんでした。",
        "为什么必须用pnpm？",
    ],
)
def test_what_only_tells_or_asks_is_none(said: str) -> None:
    assert laid_down_in(said) == []
    assert not only_lays_down(said)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("Warum ist der Bericht leer?", "Der Cronjob lief in UTC, die Abfrage aber in Ortszeit, wie in on-call.py."),
        ("¿Por qué falla el login?", "El token caduca a los 5 minutos y no hay renovación en auth.ts."),
        ("Perché è lento?", "Il cron girava in UTC mentre la query usava l'ora locale, quindi era nel futuro."),
        ("Dlaczego raport jest pusty?", "Zapytanie w report.py bierze czas lokalny, a cron działa w UTC."),
        ("Miért üres?", "A lekérdezés helyi időt használ, a cron viszont UTC-ben fut."),
        (
            "ログインが切れる原因を調べて。",
            "原因は、更新の前に有効期限を確認していたことでした。a.pyのall関数で順序を入れ替えました。",
        ),
        ("보고서가 왜 비어 있나요?", "크론은 UTC로 돌고 쿼리는 현지 시간을 씁니다. src/is-open.ts 를 고쳤습니다."),
    ],
)
@pytest.mark.parametrize("has_changed", [False, True])
def test_a_cause_is_kept_whatever_names_stand_in_it(asked: str, answered: str, *, has_changed: bool) -> None:
    edited = [tool(2, "Edit", {"file_path": "src/on.py"}, {"success": True})] if has_changed else []
    (draft,) = learned(prompt(1, asked), *edited, answer(3, answered))
    assert answered[:20] in draft.summary


@pytest.mark.parametrize(
    "text",
    [
        "Committed: `Ersetze die alten Logos` \u2014 3 files changed.",
        "The Straße field of Müller GmbH is the one that fails.",
        "All checks passed (1321 tests, 0 fail).",
        "`der-die-das.ts` and `el_los.py` were not read.",
    ],
)
def test_foreign_names_make_no_other_language(text: str) -> None:
    assert is_english([text])
