"""The setting that names what is shared is read, or refused with a message that shows its form."""

from __future__ import annotations

import pytest

from kiro_learn.model.sharing import DEFAULT_KINDS, SharedProject, shared_projects


def test_a_project_has_a_name_a_place_and_kinds() -> None:
    assert shared_projects(" shop=~/src/shop: constraint error ,api, web: none,") == (
        SharedProject("shop", "~/src/shop", ("constraint", "error")),
        SharedProject("api", "api", DEFAULT_KINDS),
        SharedProject("web", "web", ()),
    )
    assert shared_projects("") == ()


@pytest.mark.parametrize(
    "text",
    [
        "shop: constraint, decision",
        "shop: constraint: decision",
        "a=~/x: error: decision",
        "shop:",
        "shop: jokes",
        "shop: none error",
        "a, a",
        "=~/x",
        "a/b",
    ],
)
def test_what_may_mean_something_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"kinds|name|twice"):
        shared_projects(text)
