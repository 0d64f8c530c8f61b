"""Secrets in JSON that the key of a pair names: ``{"password": "hunter2"}``."""

from __future__ import annotations

import re

import attrs

from kiro_learn.privacy.assignments import AWS_SECRET_NAME, PASSWORD_NAME, RANDOM, SCHEMES, SECRET_NAME
from kiro_learn.privacy.credential_files import USER_AND_PASSWORD
from kiro_learn.privacy.reality import placeholder

_PLACEHOLDER = placeholder(end=r"\Z", words_before=r"(?:[^\n]{0,80}[ \t])?")


@attrs.frozen
class Naming:
    """A kind of secret that a JSON key names, and what its values look like."""

    kind: str
    key: re.Pattern[str]
    value: re.Pattern[str]
    """Matches the whole of a value that is real."""


def _naming(kind: str, key: str, value: str) -> Naming:
    return Naming(kind, re.compile(rf"{key}\d?\Z", re.ASCII), re.compile(rf"(?!{_PLACEHOLDER}){value}", re.ASCII))


NAMINGS: tuple[Naming, ...] = (
    _naming("aws-secret-access-key", AWS_SECRET_NAME, "[A-Za-z0-9/+]{40}"),
    _naming(
        "authorization",
        "[Aa](?i:uthorization)",
        rf"(?:(?i:{SCHEMES}) +[\w.~+/=-]{{6,}}|(?:[A-Za-z][\w-]{{1,20}} )?(?!AWS4-){RANDOM}[\w.~+/=-]{{12,}})",
    ),
    _naming("password", "(?:\\A|_)[Aa]uth", USER_AND_PASSWORD),
    _naming("private-key", "client-key-data", "[A-Za-z0-9+/]{40,}={0,2}"),
    _naming("password", PASSWORD_NAME, r"(?s:.+)"),
    _naming("secret", SECRET_NAME, rf"{RANDOM}\S++"),
)


_ENDINGS = (
    "key",
    "authorization",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "_pass",
    "auth",
    "data",
    "secret",
    "token",
    "base",
)


def namings_of(key: str) -> tuple[Naming, ...]:
    """What ``key`` says about its value; empty for most keys, and at once."""
    if not key.rstrip("0123456789").lower().endswith(_ENDINGS):
        return ()
    return tuple(naming for naming in NAMINGS if naming.key.search(key))


def redact_named(text: str, namings: tuple[Naming, ...]) -> str:
    """``text``, or a mark in its place if it is a real value of one of ``namings``."""
    for naming in namings:
        if naming.value.fullmatch(text):
            return f"[REDACTED:{naming.kind}]"
    return text


def namings_behind(item: object) -> tuple[Naming, ...]:
    """What ``item`` of a list says about the next one: ``["--password", "x"]``."""
    return namings_of(item) if isinstance(item, str) and item.startswith("-") else ()
