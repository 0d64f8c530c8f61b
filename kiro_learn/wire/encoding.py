"""In which encoding a body seems to be, from its first bytes."""

from __future__ import annotations

import json


def is_utf16_or_utf32(body: bytes) -> bool:
    """Whether ``body`` begins with their mark, or with the zero bytes that JSON in them begins with (RFC 4627, 3)."""
    return not json.detect_encoding(body).startswith("utf-8")
