from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from kiro_learn.privacy.kind import Kind, folded
from kiro_learn.privacy.secrets import KINDS, redact_kinds, redact_secrets
from tests.unit.privacy.samples import ASSIGNED, MIXED, ORDINARY, PRIVATE_KEY, TOKENS

DOCS = Path(__file__).parents[3] / "docs" / "privacy.md"


@pytest.mark.parametrize(("kind", "secret"), TOKENS.values(), ids=TOKENS)
def test_a_token_is_redacted_wherever_it_stands(kind: str, secret: str) -> None:
    for before, after in (("", ""), ("see ", " there"), ('{"a": "', '"}'), ("export A=", "\n"), ("line\\n", "\\n")):
        assert redact_secrets(before + secret + after) == f"{before}[REDACTED:{kind}]{after}"


@pytest.mark.parametrize(("kind", "secret"), TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize(
    "before",
    [
        "\x1b[31m",
        "\x1b[1;38;5;208m",
        "\x1b[m",
        "\\u001b[0m",
        "\\u0022",
        "\\u003d",
        "x%3D",
        "%22",
        "-",
        "diff\n-",
        "diff\\n-",
    ],
)
def test_a_token_is_redacted_behind_what_only_looks_like_a_part_of_it(kind: str, secret: str, before: str) -> None:
    assert redact_secrets(f"{before}{secret} there") == f"{before}[REDACTED:{kind}] there"


@pytest.mark.parametrize("secret", [secret for _, secret in TOKENS.values()], ids=TOKENS)
def test_what_is_looked_for_first_hides_no_secret_however_short(secret: str) -> None:
    for end in range(len(secret)):
        text = f"see {secret[:end]} there"
        assert redact_secrets(text) == redact_kinds(text, KINDS)


@pytest.mark.parametrize(("kind", "before", "secret", "after"), ASSIGNED.values(), ids=ASSIGNED)
def test_a_value_is_redacted_and_its_name_stays(kind: str, before: str, secret: str, after: str) -> None:
    assert redact_secrets(before + secret + after) == f"{before}[REDACTED:{kind}]{after}"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact_secrets(text) == text


@pytest.mark.parametrize("kind", sorted({kind.name for kind in KINDS}))
def test_every_kind_has_a_sample(kind: str) -> None:
    is_there = kind in {row[0] for row in (*TOKENS.values(), *ASSIGNED.values())}
    assert is_there, f"tests/unit/privacy/samples.py: add a {kind}, put together at run time, to TOKENS or ASSIGNED"


@pytest.mark.parametrize("kind", sorted({kind.name for kind in KINDS}))
def test_every_kind_is_in_the_docs(kind: str) -> None:
    is_told = f"`{kind}`" in DOCS.read_text(encoding="utf-8")
    assert is_told, f'docs/privacy.md: add `{kind}` to the table of "What is recognised: secrets"'


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_says_where_its_form_is_written_down(kind: Kind) -> None:
    assert kind.documented, f"{kind.name}: name the page of its issuer, or the collection that its form is from"


@pytest.mark.parametrize("name", ["digitalocean-token", "github-token", "linear-key", "shopify-token", "stripe-key"])
def test_a_prefix_that_no_word_ends_with_is_found_in_the_middle_of_one(name: str) -> None:
    """A name and its value may be written without a space."""
    secret = next(secret for kind, secret in TOKENS.values() if kind == name)
    assert redact_secrets(f"value{secret}") == f"value[REDACTED:{name}]"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_keeps_one_group_and_looks_for_lower_case(kind: Kind) -> None:
    assert kind.pattern.groups == 1
    assert all(trigger == folded(trigger) for trigger in kind.triggers)


def test_a_private_key_that_was_cut_off_is_redacted_to_its_last_line() -> None:
    cut_off = PRIVATE_KEY[:100]

    assert redact_secrets(f"cat key.pem\n{cut_off}\n\nNext I read the log.") == (
        "cat key.pem\n[REDACTED:private-key]\n\nNext I read the log."
    )


def test_a_private_key_in_a_listing_is_redacted_with_its_line_numbers() -> None:
    listing = "\n".join(f"{number:6}\u2192{line}" for number, line in enumerate(PRIVATE_KEY.split("\n"), start=1))

    assert redact_secrets(listing) == "     1\u2192[REDACTED:private-key]"


@pytest.mark.parametrize("count", [2, 3, 4])
def test_all_secrets_of_one_kind_are_redacted(count: int) -> None:
    secrets = ["gh" + "p_" + MIXED * 2 + str(number) for number in range(count)]

    assert redact_secrets(" and ".join(secrets)) == " and ".join(["[REDACTED:github-token]"] * count)


@pytest.mark.parametrize(("first", "second"), [*pairwise(TOKENS), (max(TOKENS), min(TOKENS))])
def test_secrets_of_two_kinds_far_apart_are_both_redacted(first: str, second: str) -> None:
    """In a long text, only the surroundings of a possible secret are examined."""
    between = " and so it went on for a while\n" * 200
    (one, one_secret), (other, other_secret) = TOKENS[first], TOKENS[second]

    found = redact_secrets(f"{between}{one_secret}{between}{other_secret}{between}")

    assert found == f"{between}[REDACTED:{one}]{between}[REDACTED:{other}]{between}"


def test_two_secrets_of_one_line_are_both_redacted() -> None:
    first, second = "gh" + "p_" + MIXED * 2, "np" + "m_" + MIXED * 2

    assert redact_secrets(f"{first},{second}") == "[REDACTED:github-token],[REDACTED:npm-token]"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hunter2horse:Bearer hunter2horse",
        "://a:TOKEN=abcd1234efghpostgres://bob:hunter2horse@home",
        '{"password": "<password: "correct horse" name>"}',
        'password: "{"password": "hunter2horse}',
    ],
)
def test_a_mark_gives_nothing_else_away(text: str) -> None:
    """A mark is no name and no part of a password, and does not change what counts as a placeholder."""
    assert redact_secrets(redact_secrets(text)) == redact_secrets(text)


@pytest.mark.parametrize("text", ["", "\ud800", "password=\udfff\ud800abc123", "\x00" * 9, "\u0130password=hunter2"])
def test_any_text_can_be_redacted(text: str) -> None:
    assert isinstance(redact_secrets(text), str)


def test_folding_moves_no_character() -> None:
    everything = "".join(map(chr, range(0x20000)))  # no character after these has a case

    assert len(folded(everything)) == len(everything)
    assert len("\u0130".lower()) == 2
