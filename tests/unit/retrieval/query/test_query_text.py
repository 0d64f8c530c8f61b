from __future__ import annotations

import pytest

from kiro_learn.model.event import Body, JsonBody, MessageBody, TextBody, Turn
from kiro_learn.retrieval.query.question import query_text

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
