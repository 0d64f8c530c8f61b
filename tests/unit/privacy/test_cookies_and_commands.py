"""Cookies are redacted in every notation, and so are secrets that commands take without an equals sign."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kiro_learn.privacy.scrub import scrub_json, scrub_text
from tests.unit.privacy.samples import HEX, MIXED

PW = "Hq7" + "xa9v2"
SID = MIXED + "_-" + HEX

COOKIES: dict[str, tuple[str, str]] = {
    "an answer": ("Set-Cookie: sessionid=", "; HttpOnly; Path=/v1beta2/app; Max-Age=31536000; SameSite=Lax\n"),
    "an answer of HTTP/2": ("< set-cookie: sid=", "; expires=Wed, 21 Oct 2026 07:28:00 GMT\n"),
    "an answer in colours": ("\x1b[1mSet-Cookie\x1b[0m: connect.sid=s%3A", "; Path=/"),
    "a request": ("> Cookie: theme=dark; session=", "; lang=en-US\n"),
    "a request in a command": ("curl -H 'Cookie: session=", "' https://shop"),
    "a request in JSON": ('{"Cookie": "session=', '", "url": "https://x?id=abc123def456"}'),
    "a request in JSON in JSON": ('{\\"cookie\\":\\"_app_session=', '\\"}'),
    "a header in code": ("headers['Cookie'] = 'sid=", "'"),
    "a page": ('document.cookie = "token=', '; path=/"'),
    "curl": ("curl -sv -b 'sid=", "' https://shop"),
    "curl without quotes": ("curl -b theme=dark -b sid=", " https://shop"),
    "curl, glued": ("curl -b'sid=", "'"),
    "curl in JSON": ('{"command": "curl -b \\"sid=', '; theme=dark\\" shop"}'),
    "curl by its long name": ("curl --cookie sid=", " https://shop"),
    "curl with an equals sign": ('curl --cookie="sid=', '" https://shop'),
    "curl in a list": ('["curl", "-b", "sid=', '", "https://shop"]'),
    "curl that tells": ('* Added cookie sessionid="', '" for domain shop.example, path /, expire 1735689600'),
    "curl that tells again": ('* Replaced cookie sessionid="', '" for domain shop.example, path /, expire 0'),
    "curl's jar": ("#HttpOnly_shop.example\tFALSE\t/\tTRUE\t1735689600\tsessionid\t", "\n"),
    "curl's jar in JSON": ("shop.example\\tFALSE\\t/a\\tFALSE\\t0\\tsessionid\\t", "\\n"),
}


@pytest.mark.parametrize(("before", "after"), COOKIES.values(), ids=COOKIES)
def test_a_cookie_goes_and_its_name_and_attributes_stay(before: str, after: str) -> None:
    redacted = scrub_text(before.replace("s%3A", "") + SID + after)

    assert redacted == f"{before.replace('s%3A', '')}[REDACTED:cookie]{after}"
    assert scrub_text(redacted) == redacted


def test_each_of_several_cookies_goes() -> None:
    header = f"Cookie: sid={SID}; theme=dark; csrftoken={MIXED}; connect.sid=s%3A{MIXED}.{HEX}; tz=Europe%2FBerlin"

    assert scrub_text(header) == (
        "Cookie: sid=[REDACTED:cookie]; theme=dark; csrftoken=[REDACTED:cookie]; "
        "connect.sid=[REDACTED:cookie]; tz=Europe%2FBerlin"
    )


@pytest.mark.parametrize(
    ("value", "scrubbed"),
    [
        ({"Cookie": f"theme=dark; sid={SID}"}, {"Cookie": "theme=dark; sid=[REDACTED:cookie]"}),
        ({"set-cookie": [f"sid={SID}; Path=/"]}, {"set-cookie": ["sid=[REDACTED:cookie]; Path=/"]}),
        (["curl", "-b", f"sid={SID}", "shop"], ["curl", "-b", "sid=[REDACTED:cookie]", "shop"]),
        (["curl", "--cookie", f"sid={SID}"], ["curl", "--cookie", "sid=[REDACTED:cookie]"]),
        (
            {"cookies": {"theme": "dark", "sid": SID, "csrf": MIXED}},
            {"cookies": {"theme": "dark", "sid": "[REDACTED:cookie]", "csrf": "[REDACTED:cookie]"}},
        ),
    ],
)
def test_a_cookie_in_json_goes(value: Any, scrubbed: Any) -> None:
    assert scrub_json(value) == scrubbed
    assert scrub_json(scrubbed) == scrubbed


DICTIONARIES: dict[str, tuple[str, str]] = {
    "Python": ('requests.get(url, cookies={"theme": "dark", "sid": "', '"}, timeout=5)'),
    "Python, in single quotes": ("cookies = {'sid': '", "'}"),
    "JSON": ('{"cookies": {"sid": "', '"}, "id": "abc123def456"}'),
    "JSON in JSON": ('{\\"cookies\\":{\\"sid\\":\\"', '\\"}}'),
    "JavaScript": ("cookies: { sid: '", "' }"),
    "over several lines": ('cookies = {\n    "lang": "en",\n    "sid": "', '",\n}'),
}


@pytest.mark.parametrize(("before", "after"), DICTIONARIES.values(), ids=DICTIONARIES)
def test_a_cookie_in_a_dictionary_goes(before: str, after: str) -> None:
    redacted = scrub_text(before + SID + after)

    assert redacted == f"{before}[REDACTED:cookie]{after}"
    assert scrub_text(redacted) == redacted


COMMANDS: dict[str, tuple[str, str, str, str]] = {
    "fish": ("secret", "set -x API_TOKEN ", MIXED, "\n"),
    "fish, for all": ("secret", "set -gx GH_API_KEY '", MIXED, "'\n"),
    "fish, a password": ("password", "set -U -x DB_PASSWORD ", PW, "; and ls"),
    "Windows": ("secret", "setx API_TOKEN ", MIXED, " /M"),
    "Windows, in quotes": ("password", 'setx DB_PASSWORD "', "let me out", '"'),
    "csh": ("secret", "setenv API_TOKEN ", MIXED, "\n"),
    "a Dockerfile": ("secret", "FROM x\nENV API_TOKEN ", MIXED, "\nRUN y"),
    "a Dockerfile in JSON": ("secret", "FROM x\\nENV AWS_SECRET_ACCESS_KEY ", HEX * 2, "\\nRUN y"),
    "a Dockerfile, a password": ("password", "ENV DB_PASSWORD ", PW, "\n"),
    "sshpass": ("password", "sshpass -p ", "letmein", " ssh bob@db"),
    "sshpass, glued and in quotes": ("password", "sshpass -p'", "let me out", "' ssh bob@db"),
    "sshpass in JSON": ("password", '{"command": "sshpass -p \\"', "letmein", '\\" ssh bob@db"}'),
    "redis": ("password", "redis-cli -h cache -p 6379 -a ", "letmein", " ping"),
    "redis by its long name": ("password", "redis-cli --pass ", PW, " ping"),
    "mysql": ("password", "mysql -u bob -p", "letmein", " shop"),
    "mysql in quotes": ("password", "mysql -h db -ubob -p'", f"{PW}&!", "' shop < dump.sql"),
    "mysqldump": ("password", "mysqldump -ubob -p", PW, " shop > dump.sql"),
    "mariadb": ("password", "mariadb -u bob -p", "letmein", " shop"),
    "mariadb-dump": ("password", "mariadb-dump --user bob -p'", PW, "' shop"),
    "curl": ("password", "curl -sS -u bob:", "letmein", " https://shop/api2"),
    "curl, glued": ("password", "curl -ubob:", PW, " https://shop"),
    "curl in quotes": ("password", "curl -X POST --user 'bob@shop.example:", "let me in", "' https://shop"),
    "curl with an equals sign": ("password", 'curl --user="bob:', PW, '" https://shop'),
    "curl in JSON": ("password", '{"command": "curl -u \\"bob:', PW, '\\" https://shop"}'),
    "curl to a proxy": ("password", "curl --proxy-user bob:", PW, " https://shop"),
}


@pytest.mark.parametrize(("kind", "before", "secret", "after"), COMMANDS.values(), ids=COMMANDS)
def test_what_a_command_is_given_goes(kind: str, before: str, secret: str, after: str) -> None:
    redacted = scrub_text(before + secret + after)

    assert redacted == f"{before}[REDACTED:{kind}]{after}"
    assert scrub_text(redacted) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "Cookie: theme=dark; lang=en-US; consent=yes; _seen=1735689600; tz=Europe%2FBerlin",
        "Set-Cookie: sid=; Path=/api/v2beta1/users; Domain=app2.example.com; Max-Age=31536000; SameSite=Strict",
        "Cookie: sid=${SESSION_ID_2}; other=<your session 2>; x=$SID2024; y=%SESSION2%",
        "The cookie: it is signed with HS256 by middleware2fa.py, and see Set-Cookie: in RFC6265",
        "cookie = parse_cookie2(request); cookies = {}; cookie_name=session2024id",
        "git checkout -b feature/add-2fa-login and grep -b needle2024abc file",
        "curl -b cookies2024.txt -c cookies2024.txt https://shop",
        "set -x; set -euo pipefail; set -gx PATH /usr/local/bin2 $PATH; set -x API_TOKEN $GH_TOKEN_2",
        "set -x API_TOKEN (pass show token2); setx API_TOKEN %TOKEN2%; setx PATH2 abcd1234efgh",
        "ENV NODE_VERSION 20.11.1-alpine3\nENV API_TOKEN ${API_TOKEN_2}\nENV DB_PASSWORD is read at the start",
        "sshpass -e ssh bob@db1; sshpass -p $PASSWORD2 ssh; sshpass -p <password> ssh; sshpass -f /run/pw2 ssh",
        "redis-cli -h cache1 -p 6379 ping; redis-cli -a $REDIS_PW2 ping; the redis-cli takes -a password",
        "mysql -u bob -p shop2024; docker run --name mysql -p3306:3306 mysql:8; mysql -p$PW2024; mysql -P3306 -p",
        "mysql -h db1 && docker run -p8080ab1:80",
        "mariadb -p3306 and mariadb -p shop2024; mariadb-admin -p$PW2024 status",
        "curl -u $USER2:$PASSWORD2 https://a; curl -u bob https://a:8443; curl -u bob: https://a",
        "curl -u bob:<password2>; curl -u ${USER2}:${PASS2} https://a",
        "curl --user 'bob:$PW2024' https://a; docker run -u 1000:1000 a",
    ],
)
def test_what_is_no_cookie_and_no_secret_of_a_command_stays(text: str) -> None:
    assert scrub_text(text) == text
    assert scrub_json({"text": text, "in": [json.dumps({"a": text})]}) == {
        "text": text,
        "in": [json.dumps({"a": text})],
    }
