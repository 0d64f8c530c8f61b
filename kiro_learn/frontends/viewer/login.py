"""Who may look at the viewer: a one-time code that only a holder of the token gets, exchanged for a cookie.

Rules of this file: the token never leaves it. Cookies do not know ports, so every other server of this machine may see
ours; it is a random text and a time, signed with a key that is derived from the token. So it is good after a restart
of the daemon too, and for nothing but this daemon.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable

import trio

COOKIE = "kl_ui"
COOKIE_SECONDS = 30 * 24 * 60 * 60
CODE_SECONDS = 60.0
MOST_CODES = 16
"""Codes that wait to be used; the oldest goes when there are more."""

CODE_BYTES = 24
_PURPOSE = b"kiro_learn viewer cookie"


class Login:
    """The codes that wait, and the key that signs cookies.

    Args:
      token: the content of the file ``token``.
      now: seconds since 1970, which a cookie's end is compared with.
      clock: seconds that only grow, which a code's end is compared with.
    """

    def __init__(
        self, token: str, *, now: Callable[[], float] = time.time, clock: Callable[[], float] = trio.current_time
    ) -> None:
        self._key = hmac.digest(token.encode(), _PURPOSE, hashlib.sha256)
        self._now = now
        self._clock = clock
        self._codes: dict[str, float] = {}
        """When each ends, oldest first."""

    def new_code(self) -> str:
        """A code that works once, for CODE_SECONDS."""
        code = secrets.token_urlsafe(CODE_BYTES)
        self._codes[code] = self._clock() + CODE_SECONDS
        while len(self._codes) > MOST_CODES:
            del self._codes[next(iter(self._codes))]
        return code

    def cookie_for(self, code: str) -> str | None:
        """What the browser is to send from now on; None if ``code`` was used, is too old, or is none. Uses it up."""
        ends = self._codes.pop(code, None)
        if ends is None or ends <= self._clock():
            return None
        content = f"{int(self._now()) + COOKIE_SECONDS}.{secrets.token_hex(16)}"
        return f"{content}.{self._signature(content.encode())}"

    def knows(self, cookies: Iterable[bytes]) -> bool:
        """Whether one of these ``Cookie`` headers has a cookie of ours that is still good."""
        pairs = (each.strip().partition(b"=") for header in cookies for each in header.split(b";"))
        # All are compared, as tokens are.
        matches = [self._is_good(value) for name, _, value in pairs if name == COOKIE.encode()]
        return any(matches)

    def _is_good(self, value: bytes) -> bool:
        content, _, signature = value.rpartition(b".")
        is_ours = hmac.compare_digest(signature, self._signature(content).encode())
        return is_ours and int(content.partition(b".")[0]) > self._now()

    def _signature(self, content: bytes) -> str:
        return hmac.new(self._key, content, hashlib.sha256).hexdigest()
