"""Checks from the head alone whether a request is allowed: any local program or web page can reach the port.

Any web page can have a browser send requests here, and any domain can resolve to 127.0.0.1; so a request must name us
as its host, must not come from another web page, and must know the token that only this user can read, or
have the viewer's cookie that was given for it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from functools import cache

import attrs

from kiro_learn.frontends.http.answers import Answer, error_answer
from kiro_learn.frontends.viewer.login import Login

OPEN_PATHS = frozenset({"/healthz", "/ui"})
VIEWER = "/ui/"
"""Its pages and files may be read without the token; what a page shows, it asks for by itself."""
CODE_PATH = "/v1/ui/code"
"""Makes new cookies, and so wants the token itself."""
READS = frozenset({"GET", "HEAD"})

OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
HTTP_PORT = 80
OWN_FETCH_SITES = frozenset({"same-origin", "none"})

_GOOD_PATH = re.compile("/[^\x00-\x1f\x7f\ufffd]*")
"""Stands in a decoded path for percent-encoded bytes that are no UTF-8."""


@attrs.frozen(kw_only=True)
class Head:
    """The head of a request, its names in lower case."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]
    port: int
    """The port on which the request arrived."""

    def all(self, name: bytes) -> list[bytes]:
        return [value for each, value in self.headers if each == name]


def refusal(head: Head, token: bytes, login: Login) -> Answer | None:
    """The refusal of ``head``, or None. The token is checked last: a request from elsewhere learns nothing of it."""
    return _bad_path(head) or _foreign(head) or _unknown(head, token, login)


def shows_key(head: Head, token: bytes, login: Login) -> bool:
    """Whether it has the token, or the viewer's cookie where that is enough: a write with it names our page as origin.

    Of a request from our own pages or programs; ``refusal`` turns away those from elsewhere.
    """
    # All are compared, and each in constant time, so that timing tells nothing of the token.
    matches = [hmac.compare_digest(each, token) for each in _tokens(head)]
    if any(matches):
        return True
    is_enough = head.path != CODE_PATH and (head.method in READS or bool(head.all(b"origin")))
    return is_enough and login.knows(head.all(b"cookie"))


def _bad_path(head: Head) -> Answer | None:
    return None if _GOOD_PATH.fullmatch(head.path) else error_answer(400, "the path is not valid")


def _foreign(head: Head) -> Answer | None:
    hosts = _own_hosts(head.port)
    asked = head.all(b"host")
    if len(asked) != 1 or asked[0].lower() not in hosts:
        return error_answer(403, "wrong host", hint="Ask for localhost or 127.0.0.1, with the port.")
    if any(origin.lower() not in {b"http://" + host for host in hosts} for origin in head.all(b"origin")):
        return error_answer(403, "wrong origin")
    if any(site.decode("latin-1").lower() not in OWN_FETCH_SITES for site in head.all(b"sec-fetch-site")):
        return error_answer(403, "wrong origin")
    return None


@cache
def _own_hosts(port: int) -> frozenset[bytes]:
    hosts = frozenset(f"{name}:{port}".encode() for name in OWN_NAMES)
    return hosts | {name.encode() for name in OWN_NAMES} if port == HTTP_PORT else hosts


def _unknown(head: Head, token: bytes, login: Login) -> Answer | None:
    if (head.method in READS and _is_open(head.path)) or shows_key(head, token, login):
        return None
    return error_answer(
        401,
        "wrong token" if _tokens(head) else "no token",
        hint="Send `Authorization: Bearer` with the content of the file `token` in the home of kiro-learn.",
        headers={"WWW-Authenticate": 'Bearer realm="kiro-learn"'},
    )


def _is_open(path: str) -> bool:
    """Whether it may be read without a key: it says nothing of what is stored."""
    return path in OPEN_PATHS or (path.startswith(VIEWER) and not path.endswith(".json"))


def _tokens(head: Head) -> list[bytes]:
    given = [value.partition(b" ") for value in head.all(b"authorization")]
    bearers = [token.strip() for scheme, _, token in given if scheme.lower() == b"bearer"]
    return bearers + [value.strip() for value in head.all(b"x-worker-token")]
