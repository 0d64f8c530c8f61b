"""A secret is removed wholly or not at all, and a text that only looks like one is not changed."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from kiro_learn.privacy.scrub import scrub_json, scrub_text
from tests.unit.privacy.samples import HEX, MIXED, PEM_LINES, PRIVATE_KEY

PW = "Hq7" + "xa"
TAIL = "TA" + "IL"
LONG = PW + "9v2Kp4"
USER_AND_PW = base64.b64encode(f"bob:{LONG}".encode()).decode()
PUTTY = f"Private-Lines: 3\n{PEM_LINES}\nPrivate-MAC: {HEX * 2}"

INSIDE = list("&;,|<>\\`(){}[]*/'\"#!%^~?@:=+$-_.")
"""Characters that a value after ``DB_PASSWORD=`` may have inside."""
LEADING = ["(", "*", "/", "'", "{", "[", "#", "!", "@", "+", "-", "?", "~", "^", "%", ":", "="]
ENDINGS = [
    "\n",
    " next",
    '"',
    "'",
    "\\nDB_USER=bob",
    "\\n",
    '\\"',
    ", then",
    "; ls",
    " && ls",
    " | sh",
    "</env>",
    "&page=1",
    ";Database=x",
    ",user=b",
]


@pytest.mark.parametrize("end", ENDINGS)
@pytest.mark.parametrize("inside", INSIDE)
def test_a_password_of_a_shell_goes_with_its_tail(inside: str, end: str) -> None:
    assert scrub_text(f"DB_PASSWORD={PW}{inside}{TAIL}{end}") == f"DB_PASSWORD=[REDACTED:password]{end}"


@pytest.mark.parametrize("first", LEADING)
def test_a_password_of_a_shell_may_begin_with_anything(first: str) -> None:
    scrubbed = scrub_text(f"export DB_PASSWORD={first}{PW}{TAIL}\n")
    assert scrubbed.replace("'", "") == "export DB_PASSWORD=[REDACTED:password]\n"


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("inside", [" ", " & ", "; ", '\\"', "\\'", " correct horse battery ", " and the old "])
def test_a_password_of_a_shell_in_quotes_goes_to_its_closing_quote(inside: str, quote: str) -> None:
    name, end = f"export DB_PASSWORD={quote}", f"{quote} && ./serve\n"
    assert scrub_text(f"{name}{PW}{inside}{TAIL}{end}") == f"{name}[REDACTED:password]{end}"


@pytest.mark.parametrize("password", [LONG, f"{LONG}x", f"{LONG}xy"], ids=["no =", "one =", "two ="])
@pytest.mark.parametrize("user", ["bob", "bobs", "bobby"])
def test_a_user_and_a_password_of_any_length_in_base64_go(user: str, password: str) -> None:
    value = base64.b64encode(f"{user}:{password}".encode()).decode()
    assert scrub_text(f'"auth": "{value}"') == '"auth": "[REDACTED:password]"'


@pytest.mark.parametrize("inside", list("&;,|<>\\`#!%^~?@:+$-_/."))
@pytest.mark.parametrize("name", ["password=", "password: ", "?user=b&password=", "--password ", "Password = "])
def test_a_bare_password_goes_with_its_tail(name: str, inside: str) -> None:
    assert scrub_text(f"{name}{PW}9{inside}{TAIL}\n") == f"{name}[REDACTED:password]\n"


STANDING: dict[str, tuple[str, str, str, str]] = {
    "a URL in JSON": ("password", r"postgres:\/\/app:", PW, r"@db\/shop"),
    "a URL with a slash": ("password", "postgres://app:", f"{PW}/{TAIL}", "@db/shop"),
    "a URL with a quote": ("password", "postgres://app:", f"{PW}'{TAIL}", "@db/shop"),
    "a URL with a bracket": ("password", "postgres://app:", f"{PW}[{TAIL}", "@db/shop"),
    "triple quotes": ("password", 'password = """', f"{PW} {TAIL}", '"""\n'),
    "triple quotes over lines": ("password", "password = '''\n", f"{PW}\n{TAIL}\n", "'''\n"),
    "triple quotes with a quote": ("password", 'password = """', f'{PW}"{TAIL}', '"""\n'),
    "a block of YAML": ("password", "db:\n  password: |\n    ", f"{PW} {TAIL}", "\n  user: bob"),
    "a folded block of YAML": ("password", "password: >-\n  ", f"{PW}\n  {TAIL}", "\nuser: bob"),
    "a block of YAML in JSON": ("password", "password: |\\n  ", PW, "\\nuser: bob"),
    "a token in a block": ("secret", "api_token: |-\n  ", LONG, "\nnext: 1"),
    "a coloured name": ("password", "\x1b[32mDB_PASSWORD\x1b[0m=\x1b[1;33m", PW, "\x1b[0m\n"),
    "a coloured name in JSON": ("password", "\\u001b[32mDB_PASSWORD\\u001b[0m=\\u001b[33m", PW, "\\u001b[0m"),
    "a coloured name of YAML": ("password", "\x1b[32mpassword\x1b[0m: ", LONG, "\x1b[0m\n"),
    ".netrc": ("password", "machine api.example.com login bob password ", PW, "\n"),
    ".netrc over lines": ("password", "machine api.example.com\n  login bob\n  password ", PW, "\n"),
    ".netrc of anyone": ("password", "default login bob password ", PW, "\n"),
    ".pgpass": ("password", "db.example.com:5432:shop:app:", PW, "\n"),
    ".pgpass of any": ("password", "# mine\n*:*:*:app:", f"{PW}{TAIL}", "\nnext"),
    ".pgpass in a command": ("password", "echo 'localhost:5432:*:app:", PW, "' > x"),
    "docker": ("password", '"auths": {"index.docker.io": {"auth": "', USER_AND_PW, '"}}'),
    "docker in JSON": ("password", '{\\"auth\\": \\"', USER_AND_PW, '\\"}'),
    ".npmrc": ("password", "//registry.npmjs.org/:_auth=", USER_AND_PW, "\n"),
    ".npmrc in quotes": ("password", '_auth = "', USER_AND_PW, '"\n'),
    "kubeconfig": ("private-key", "    client-key-data: ", "Rk9P" + HEX.replace("-", "") * 4, "\n"),
    "a key in Base64": ("private-key", "tls.key: ", base64.b64encode(PRIVATE_KEY.encode()).decode(), "\n"),
    "PuTTY": ("private-key", "PuTTY-User-Key-File-3: ssh-rsa\nPublic-Lines: 1\nAAAA\n", PUTTY, "\n"),
    "PuTTY, cut off": ("private-key", "", PUTTY[:70], ""),
    "Rails": ("secret", "SECRET_KEY_BASE=", HEX * 4, "\n"),
    "Rails in YAML": ("secret", "  secret_key_base: ", HEX * 4, "\n"),
    "a raw header": ("authorization", "Authorization: ", MIXED, "\n"),
    "a raw header in quotes": ("authorization", 'curl -H "Authorization: ', MIXED, '"'),
    "a header of any scheme": ("authorization", "Authorization: SSWS ", MIXED, "\n"),
    "arguments": ("password", '["mysql", "--password", "', PW, '", "shop"]'),
    "arguments in JSON": ("password", '[\\"--password\\",\\"', PW, '\\"]'),
    "arguments, a token": ("secret", "['--token', '", LONG, "']"),
    "bold": ("password", "**Password:** ", LONG, "\n"),
    "bold, the name alone": ("password", "**Password**: ", LONG, "\n"),
    "bold, in code": ("password", "**Password:** `", PW, "`\n"),
    "a live key with hyphens": ("secret", "use ", "sk-" + "live-" + MIXED, "."),
    "a live key of letters": ("secret", "use ", "sk-" + "live-" + "QWErTyUIOPasdFGHjkLz", "."),
    "a live key of parts": ("secret", "", "sk-" + "live-ab12-cd34-ef56-gh78", " now"),
    "a live key of digits": ("secret", "use ", "sk-" + "live-6243880239-7326893", "."),
    "a live key of parts of one kind": ("secret", "use ", "sk-" + "live-abc-DEF-6243880239-7326893", "."),
    "a key of a service": ("secret", "", "sk-" + "acme-v2-" + MIXED, " now"),
    "a login": ("password", "the login is admin / ", LONG, "."),
    "credentials": ("password", "Credentials: `bob@example.com` / `", f"{PW}!", "`"),
}


@pytest.mark.parametrize(("kind", "before", "secret", "after"), STANDING.values(), ids=STANDING)
def test_a_secret_goes_whole_and_what_is_around_it_stays(kind: str, before: str, secret: str, after: str) -> None:
    scrubbed = f"{before}[REDACTED:{kind}]{after}"
    assert scrub_text(before + secret + after) == scrubbed
    assert scrub_text(scrubbed) == scrubbed


@pytest.mark.parametrize(
    ("value", "scrubbed"),
    [
        (["--password", PW, "x"], ["--password", "[REDACTED:password]", "x"]),
        (["--token", LONG], ["--token", "[REDACTED:secret]"]),
        ({"args": ["-v", "--db-password", PW]}, {"args": ["-v", "--db-password", "[REDACTED:password]"]}),
        ({"Authorization": MIXED}, {"Authorization": "[REDACTED:authorization]"}),
        ({"Authorization": f"SSWS {MIXED}"}, {"Authorization": "[REDACTED:authorization]"}),
        ({"auths": {"x": {"auth": USER_AND_PW}}}, {"auths": {"x": {"auth": "[REDACTED:password]"}}}),
        ({"client-key-data": HEX * 4}, {"client-key-data": "[REDACTED:private-key]"}),
        (
            {"secretKeyBase": HEX * 4, "SECRET_KEY_BASE": HEX},
            dict.fromkeys(("secretKeyBase", "SECRET_KEY_BASE"), "[REDACTED:secret]"),
        ),
        ({"password": f"/{PW}{TAIL}"}, {"password": "[REDACTED:password]"}),
        ({"password": f"{{{PW}{TAIL}"}, {"password": "[REDACTED:password]"}),
    ],
)
def test_json_is_redacted_by_what_stands_before(value: Any, scrubbed: Any) -> None:
    assert scrub_json(value) == scrubbed
    assert scrub_json(scrubbed) == scrubbed


INNOCENT = (
    "The password reset page says that the password is required, and that a token expires after 15 minutes.",
    'password = os.environ["DB_PASSWORD"]\ntoken = os.getenv("API_TOKEN_V2")\n',
    "PASSWORD=$(pass show db/prod)\nDB_PASSWORD=${DB_PASSWORD:-}\nexport PGPASSWORD=$PGPASS2\n",
    (
        "PASSWORD=getpass.getpass('Password: ')\nDB_PASSWORD=os.environ['DB1_PASSWORD']\n"
        "DB_PASSWORD=settings.db_password\n"
    ),
    (
        "DB_PASSWORD=<your-password>\nDB_PASSWORD={password}\nDB_PASSWORD={{ vault_password2 }}\n"
        "DB_PASSWORD=/run/secrets/db2\n"
    ),
    "git clone ssh://git@github.com:22/acme/shop2.git and https://bob@example.com/path?x=1",
    "open http://localhost:8080/@vite/client2 and http://[::1]:5173/@fs/home/bob/app1",
    "Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN_2024\nAuthorization: Token {api_token_1}",
    "Authorization: AWS4-HMAC-SHA256 Credential=<id>/20260105/eu-west-1, SignedHeaders=host, Signature=<hex>",
    'headers = {"Authorization": f"Bearer {token2}", "X-Auth": auth_header_v2}',
    (
        "an sk-learn-style estimator with sk-loading-spinner-container-2, task-sk-ant, and "
        "sk-test-results-table-row-2024"
    ),
    (
        "login is required / optional; the login is SSO / OAuth2-based, the login is basic / sha256sum, "
        "login routes / users2fa.py"
    ),
    "credentials: static / rotating, credentials are read / write-only",
    "The machine learning login page password reset flow; machine login uses password authentication",
    (
        "9fceb02d0ae598e95dc970b74767f19372d61af8  dist/app-1.2.3.tar.gz\n"
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    ),
    "0.0.0.0:5432->5432/tcp, :::5432->5432/tcp   shop-db-1\npostgres:x:5432:5432:PostgreSQL:/var/lib:/bin/bash",
    (
        "src/main.c:5432:12: error: 'password' undeclared\narn:aws:lambda:*:123456789012:function:shop2\n"
        "arn:aws:s3:*:*:bucket:x1"
    ),
    "localhost:5432:shop:app:password goes into .pgpass as host:port:database:user:password",
    '"auth": "required", "auth": "oauth2Authentication", "auth": "basic", "requires_auth": "true"',
    "_auth=${NPM_AUTH}\n//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nalways-auth=true\nauth: disabled",
    (
        "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM\nclient-key-data: <base64>\n"
        "client-key: /home/bob/.kube/k.pem"
    ),
    (
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 2\n"
        "AAAAC3NzaC1lZDI1NTE5AAAAIHNpZ25lZGtleQ\nPrivate-Lines: 1"
    ),
    "secret_key_base: <%= ENV['SECRET_KEY_BASE'] %>\nSECRET_KEY_BASE=$(bin/rails secret)\n",
    ('["mysql", "--password", "--host", "db1.example.com"] and ["--token", "$TOKEN"] and ["--token-file", "/run/t2"]'),
    (
        "**Password:** required, 8 to 64 characters\n**Token:** a JWT (RS256)\n| password | varchar(255) |\n"
        "| token | uuid4 |"
    ),
    "password: |\n  ${DB_PASSWORD}\ndescription: |\n  Enter the password of user2.\nnote: >-\n  see RFC2617\n",
    'password = """\n  Enter your password, 8 characters at least.\n"""\ntoken = """{token}"""',
    "type Credentials = { login: string; password: string | null; token?: Token<Claims2> }",
    "\x1b[32mpassword\x1b[0m: \x1b[33mstring\x1b[0m, \x1b[1mDB_PASSWORD\x1b[0m=\x1b[2m<unset>\x1b[0m",
    'if (password !== confirmPassword2) throw new Error("password: does not match pattern [a-z0-9]{8,}")',
    ("def check(password: str, *, token: Token2 = None) -> bool: return hmac.compare_digest(password, self.password2)"),
    (
        "## Passwords\n\n- `password` is hashed with argon2id\n"
        "- see `docs/passwords.md#rotation2` and <https://example.com/reset?token=TOKEN>"
    ),
    (
        "password = user2.password, Password: v1beta1.SecretKeyRef, password = S3Client.Password, "
        "token = Oauth2Session1.refresh_token; password=base64.b64decode, password: utf8String.value1, "
    ),
    "PWD=/Users/Bob/work2/here\nOLDPWD=/srv/app1\n--- PASS: TestPassword/with_digits_123 (0.01s)\nPASS=12 FAIL=0",
)


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_speaks_of_secrets_is_not_touched(text: str) -> None:
    assert scrub_text(text) == text
    assert scrub_json({"tool_input": {"command": text}, "list": [text, json.dumps({"a": text})]}) == {
        "tool_input": {"command": text},
        "list": [text, json.dumps({"a": text})],
    }


@pytest.mark.parametrize("path", [f"{PW}9.{TAIL}", f"app.{PW}9.{TAIL}", f"{TAIL}.{PW}9"])
def test_what_no_name_in_code_looks_like_is_no_path_of_names(path: str) -> None:
    assert scrub_text(f"password={path} and") == "password=[REDACTED:password] and"
    assert scrub_text(f"token: {LONG}.{path}, and") == "token: [REDACTED:secret], and"


@pytest.mark.parametrize("before", ["", "curl -d user=bob&", "https://example.com/in?", "I said "])
def test_the_next_field_of_a_form_is_not_of_the_password(before: str) -> None:
    """That holds in a sentence too, where ``&name=`` might belong to the password: the two look the same."""
    assert scrub_text(f"{before}password={PW}9&name=ann") == f"{before}password=[REDACTED:password]&name=ann"


def test_there_are_thirty_innocents() -> None:
    assert len(set(INNOCENT)) >= 30
