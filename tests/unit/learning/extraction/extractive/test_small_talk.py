# ruff: noqa: RUF001  # prompts in other scripts, whose letters resemble Latin ones
from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.chatter import asks_nothing


@pytest.mark.parametrize(
    "prompt",
    [
        *(
            "hello",
            "thanks",
            "commit",
            "continue",
            "yes please",
            "ok, go on",
            "lgtm",
            "do it",
            "y",
            "👍",
            "🎉🎉",
            "...",
        ),
        *("ok thx", "ty!", "tysm", "k", "kk", "+1", "haha nice", "ship it", "good morning", "hi there", "bye", "oops"),
        *("go ahead pls", "please continue with the plan", "next", "next step", "go to the next step", "move on"),
        *("continue from where you left off", "yes, go ahead and implement it", "fix it", "retry", "try again", "stop"),
        *("option 2", "ok do the first one", "yes, all of them", "both", "step 3 please", "1", "a", "b)"),
        *("ok?", "ready?", "really?", "commit and push", "can you commit this?", "please open a pull request"),
        *(
            "create a pull request",
            "merge it",
            "squash and merge",
            "nice work",
            "thanks a lot!",
            "thank you for your help!",
        ),
        *("ja bitte", "danke schön!", "mach weiter", "nein danke", "ok weiter", "passt, weiter so", "Guten Morgen"),
        *("merci beaucoup", "oui, continue", "d'accord", "sí, gracias", "vale, adelante", "grazie mille", "obrigado"),
        *(
            "好的",
            "好的，谢谢！",
            "继续",
            "请继续",
            "はい",
            "はい、お願いします",
            "続けてください",
            "ありがとうございます。",
            "네 감사합니다",
        ),
        *(
            "да",
            "спасибо, продолжай",
            "نعم، شكرا",
            "כן תודה",
            "dzięki",
            "tak, proszę",
            "evet teşekkürler",
            "ok bedankt",
        ),
    ],
)
def test_small_talk_asks_nothing(prompt: str) -> None:
    assert asks_nothing(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        *(
            "port?",
            "which db?",
            "db?",
            "why?",
            "why",
            "timeout",
            "auth",
            "license?",
            "plan",
            "tasks",
            "what's the plan?",
        ),
        *("next.js", "next?", "what is next?", "which option?", "green?", "is the catch clean?", "8080?", "404?"),
        *(
            "commit message format?",
            "force push?",
            "is it squash merge?",
            "who merged it?",
            "which branch do we push to",
        ),
        *("is the idea still good?", "run the tests", "fix the login", "implement the parser", "stop the worker"),
        *("continue with the auth refactoring", "next: rate limits", "yes, but keep the flag", "no, use pnpm"),
        *(
            "welche Datenbank?",
            "warum nicht",
            "Port?",
            "ja, aber ohne Redis",
            "端口是什么？",
            "为什么",
            "なぜですか",
            "порт?",
        ),
    ],
)
def test_a_short_question_asks_something(prompt: str) -> None:
    assert not asks_nothing(prompt)
