"""What a body may be: of a type that its route takes, as it is, in UTF-8. Anything else is refused, never guessed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from werkzeug.http import parse_options_header

from kiro_learn.frontends.http.answers import Answer, error_answer
from kiro_learn.wire.encoding import is_utf16_or_utf32

PLAIN = frozenset({"identity", ""})
"""Content codings that are none (RFC 9110, 8.4)."""
UTF8 = frozenset({"utf-8", "utf8", "us-ascii"})


def body_refusal(
    body: bytes, *, content_type: str, content_encodings: Iterable[str], takes: Sequence[str] | None
) -> Answer | None:
    """Why ``body`` is not taken, or None; ``takes`` are the types that may be, if that matters."""
    kind, options = parse_options_header(content_type)
    codings = {coding.strip().lower() for listed in content_encodings for coding in listed.split(",")}
    if not codings <= PLAIN:
        hint = "Send the body as it is, without Content-Encoding."
        return error_answer(415, "unsupported content encoding", hint=hint, headers={"Accept-Encoding": "identity"})
    if takes is not None and kind.lower() not in takes:
        return error_answer(415, "unsupported content type", hint=f"Send Content-Type: {' or '.join(takes)}.")
    if options.get("charset", "utf-8").lower() not in UTF8:
        return error_answer(415, "unsupported charset", hint="Send UTF-8.")
    if is_utf16_or_utf32(body):
        return error_answer(400, "the body is not in UTF-8", hint="Send UTF-8.")
    return None
