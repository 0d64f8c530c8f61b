from __future__ import annotations

import pytest

from kiro_learn.learning.extraction.extractive.markdown import blocks_of
from kiro_learn.learning.graph.wishes import ways_in

DESCRIBED = [
    ("To deploy:\n1. run the tests\n2. push the tag", "Deploy", ("run the tests", "push the tag")),
    ("How to deploy:\n1) run the tests\n2) push the tag", "Deploy", ("run the tests", "push the tag")),
    ("Steps for a release:\n1. bump\n2. tag", "A release", ("bump", "tag")),
    ("For deploying:\n1. run the tests\n2. push the tag", "Deploying", ("run the tests", "push the tag")),
    ("To bake bread:\n1. mix flour\n2. wait", "Bake bread", ("mix flour", "wait")),
    ("To fix a broken build:\n1. clean\n2. install", "Fix a broken build", ("clean", "install")),
    ("To deploy this app: run the tests, then push the tag", "Deploy this app", ("run the tests", "push the tag")),
    ("To deploy: run the tests, then push the tag", "Deploy", ("run the tests", "push the tag")),
    ("To deploy, we run the tests and then push the tag", "Deploy", ("run the tests", "push the tag")),
    ("To deploy: 1. Run the tests 2. Push the tag", "Deploy", ("Run the tests", "Push the tag")),
    ("To deploy: 1) run the tests, 2) push the tag.", "Deploy", ("run the tests", "push the tag")),
]


@pytest.mark.parametrize(("prompt", "name", "steps"), DESCRIBED)
def test_steps_with_what_they_are_for_are_a_procedure(prompt: str, name: str, steps: tuple[str, ...]) -> None:
    assert [(way.name, way.steps) for way in ways_in(blocks_of(prompt))] == [(name, steps)]


NOTHING = [
    "For now:\n1. rename the class\n2. move the file",
    "For this PR:\n1. rename the class\n2. move the file",
    "For example:\n1. rename the class\n2. move the file",
    "To be honest:\n1. it is slow\n2. it is late",
    "To sum up:\n1. it works\n2. it is fast",
    "To do:\n1. rename the class\n2. move the file",
    "To fix:\n1. the login\n2. the logout",
    "To test the theory, she went home and then called.",
    "To start, thanks and then some",
    "To run a marathon, I train a lot and then rest",
    "To deploy: 3. is the last of 4. all",
    "To deploy: 1. run the tests",
    "Steps to reproduce:\n1. open the app\n2. click on save",
    "To fix this:\n1. revert the commit\n2. push",
    "To test it: run the tests, then look at the log.",
    "To deploy you don't need to: build, then push.",
]


@pytest.mark.parametrize("prompt", NOTHING)
def test_a_list_of_what_is_to_be_done_now_is_none(prompt: str) -> None:
    assert ways_in(blocks_of(prompt)) == []
