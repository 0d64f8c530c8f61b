# ruff: noqa: RUF001  # words of other scripts, whose letters resemble Latin ones
"""Rules are told from complaints and questions in other languages, too."""

from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.durable import only_lays_down, rules_in


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
    assert rules_in(said) == [said]
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
    assert rules_in(said) == []
    assert not only_lays_down(said)
