"""Facts and wishes from plain statements, and tools from commands that ran. No model is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kiro_learn.learning.extraction.extractive.facts import command_of
from kiro_learn.learning.extraction.extractive.turns import ToolUse
from kiro_learn.learning.graph.polarity import denies, supposes
from kiro_learn.learning.graph.predicates import key_of, words_of
from kiro_learn.model.draft import FactDraft, PreferenceDraft, Source
from kiro_learn.model.graph import MAX_OBJECT, EntityType, PreferenceCategory, SourceType
from kiro_learn.model.wording import word_set
from kiro_learn.retrieval.query.time_ranges import since_when

# The part of a prompt that its writer means, without quoted lines and without sentences that the next words take back.

_QUOTE = re.compile(r"^[ \t]{0,3}>.*$", re.MULTILINE)
_BOUNDARY = r"(?:^|[.!?,;:(\u2014\n-])[ \t]{0,3}"
_BEFORE = (
    r"(?:(?:no|nope|wait|sorry|oops|actually|well|hmm|haha|lol|correction|my (?:bad|mistake))\b[ \t,.:;!-]{0,4}){0,3}"
)
_ELSEWHERE = (
    r"(?:that|this|it)(?:'s| is| was) (?:about |for |from |in )?(?:the |an)?(?:other|different|wrong) "
    r"(?:repo(?:sitory)?|project|app|service|codebase)\b"
)
_MISSAID = (
    r"(?:scratch|strike) that\b|(?:forget|ignore) what i (?:just )?(?:said|wrote)\b|i take (?:that|it|this) back\b"
    r"|i (?:misspoke|mistyped)\b"
)
TAKES_BACK = re.compile(rf"{_BEFORE}(?:(?P<all>{_ELSEWHERE})|{_MISSAID})", re.IGNORECASE)
"""The beginning of a prompt that takes back the one before it: ``all`` of it, or only its last statement.

"That's wrong" is no such beginning: it may be about an agent's words.
"""
_PLAYS = re.compile(
    r"\b(?:role[- ]?play|pretend|act as if|imagine (?:that|we|you)|in character|play the (?:role|part))\b",
    re.IGNORECASE,
)
_ENDS_PLAY = re.compile(
    r"\b(?:end of (?:the |this )?(?:role|play|game|scene|story)|out of character|back to (?:work|reality|normal)"
    r"|stop (?:pretending|playing)|(?:speak|talk|answer) normally|none of (?:it|this|that) is)\b",
    re.IGNORECASE,
)
_TAKEN_BACK_WORDS = (
    rf"(?:{_ELSEWHERE}|{_MISSAID}|"
    r"(?:i(?:'m| am| was) )?(?:just |only )?(?:kidding|joking)\b|jk\b|wait,? no\b"
    r"|(?:scratch|strike|ignore|forget) (?:that|it|this)\b|i (?:meant|mean)\b"
    r"|(?:that|this|it)(?:'s| is| was|'s been| has been) "
    r"(?:a (?:lie|joke)|wrong|false|outdated|obsolete|(?:not|no longer) (?:true|right|correct|the case))\b"
    r"|(?:not (?:true|really|any ?more|any longer)|never ?mind|(?:we|i) (?:don't|do not|didn't|won't)|wrong|nope|no)"
    r"[ \t]{0,3}(?:[.!,;)\n]|$))"
)
_RETRACTION = re.compile(_BOUNDARY + f"(?P<taken_back>{_BEFORE}{_TAKEN_BACK_WORDS})", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:,|\b(?:no|meant|mean))$", re.IGNORECASE)
_DENIED = re.compile(r"[^.!?\n]{0,200}?\bnot[ \t]+(?:(?:on|in|with|at|the)[ \t]+)?[`'\"]?(?P<denied>[\w.+#/-]*\w)")
"""The word that the sentence after a retraction denies: "No, the port is 9090, not 8080"."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def is_played(before: Iterable[str]) -> bool:
    """Whether one of the prompts ``before`` (newest first) begins a role play that no later one ends."""
    for prompt in before:
        if _ENDS_PLAY.search(prompt):
            return False
        if _PLAYS.search(prompt):
            return True
    return False


def said_in_earnest(prompt: str) -> str:
    """``prompt`` without its quoted lines, and without each sentence that the next words take back.

    "We use Redis. Just kidding!" states nothing, and neither does a line that begins with ">", as in a mail. A
    retraction that names what it denies takes back only a sentence that says it.
    """
    text = _QUOTE.sub("", prompt.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    kept: list[str] = []
    done = 0
    for retraction in _RETRACTION.finditer(text):
        said = text[done : retraction.start("taken_back")]
        ends = [match.end() for match in _SENTENCE_END.finditer(said.rstrip(" \t\n.!?,;:(-\u2014"))]
        start = ends[-1] if ends else 0
        denied = _DENIED.match(text, retraction.end()) if _GOES_ON.search(retraction[0]) else None
        if denied is not None and denied["denied"].lower() not in said[start:].lower():
            continue
        kept.append(said[:start])
        kept.append("\n")
        done = retraction.start("taken_back")
    return "".join((*kept, text[done:]))


# Standing wishes of a person: what is always or never to be done, on no special occasion, in their own words.

STRENGTH = 0.8

_ORDERED = """
    add amend answer ask assert avoid begin break build bump bypass cache call catch change check close comment
    commit copy create delete deploy disable document edit ensure escape explain expose force force-push format
    generate handle hardcode ignore import include install keep leak link lint load log make merge migrate mix mock
    modify move name open pin prefer print publish push put raise read rebase refactor regenerate release remove
    rename reset restart return review run set show sign skip sort split squash start stop store suggest tag test
    throw touch trust update upgrade use validate verify wait wrap write
"""
"""The verbs of orders about a project. With other verbs such a sentence tells what somebody does or feels."""
_ORDER = re.compile(
    r"(?i)(?:(?:please|and|also|but|ok|note|remember|(?:in|for) this (?:repo|project|codebase))[,:]? (?:that )?)*"
    r"(?:(?:change of plans?|correction|actually|sorry|no|new rule)[,:] )?(?:from now on,? )?"
    r"(?:(?:you|we|agents|everyone) (?:should|must) )?(?:please )?(?:always|never|(?:do not|don'?t) ever) (?:ever )?"
    rf"(?P<what>(?:{'|'.join(_ORDERED.split())})\b(?: .+)?)",
)
_TAKEN_BACK = re.compile(
    r"(?i)(?:you (?:don't|do not|no longer) (?:have|need) to|(?:there is |there's )?no need to|(?:please )?stop) "
    r"(?:always )?(?P<what>[^,;:]{4,120}?) (?:any ?more|any longer|from now on)",
)
_NO_ORDER = re.compile(
    r"(?i)[?\"\u201c\u201d\u00ab]|=>|==|\w\(|\b(?:said|says?|told|wrote|asks|asked|would|could|example|pretend|imagine"
    r"|story|character|for now|just now|right now|today|tonight|yet|here|this (?:week|month|sprint|time|session|once)"
    r"|(?:in|for|during|on|until|till) (?:this|next|the next|tomorrow|monday|tuesday|wednesday|thursday|friday)\b"
    r"(?! (?:repo|project|codebase)\b)|lol|haha|yourself|yourselves|people|someone|each other|life)\b|\b(?:always|never"
    r"|ever) (?:[a-z-]+ (?:it|them|him|her|this|these|those)|(?!check|ensure|verify|assert)[a-z-]+ that)\b",
)
"""Signs of a question, a quotation, a story, a report, or an order that is for once or needs another sentence."""
_CODE = re.compile(r"`|\w_\w|\w/\w+\.\w|\w\.(?:py|ts|tsx|js|go|rs|md|toml|json|ya?ml)\b|--\w")


def wish_in(sentence: str, source: Source) -> PreferenceDraft | None:
    """The preference that ``sentence`` states or takes back; None for most sentences."""
    text = " ".join(sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split()).lstrip("-*> ").rstrip(".! ")
    ordered = _ORDER.fullmatch(text)
    match = ordered or _TAKEN_BACK.fullmatch(text)
    if match is None or _NO_ORDER.search(text):
        return None
    words = words_of(match["what"])
    key = key_of(match["what"])
    names_tool = any(map(is_known, words))
    if not key or not (names_tool or WORK_WORDS.intersection(map(str.lower, words)) or _CODE.search(text)):
        return None
    return PreferenceDraft(
        category=PreferenceCategory.TOOLS if names_tool else PreferenceCategory.WORKFLOW,
        key=key,
        value=text[:MAX_OBJECT],
        strength=STRENGTH,
        source_type=SourceType.STATED,
        is_denied=ordered is None,
        source=source,
    )


# The known tool that a shell command ran without failing. So a project uses it, although nobody stated it.

OBSERVED = 0.6
"""How sure it is that a project uses a tool that ran in it."""

_COMMANDS = """
    npm=npm npx=npm pnpm=pnpm yarn=Yarn bun=Bun deno=Deno pip=pip uv=uv poetry=Poetry tox=tox nox=nox cargo=Cargo
    gradle=Gradle ./gradlew=Gradle mvn=Maven bazel=Bazel make=Make cmake=CMake nix=Nix pytest=pytest jest=Jest
    vitest=Vitest playwright=Playwright cypress=Cypress ruff=Ruff black=Black mypy=mypy pyright=Pyright eslint=ESLint
    prettier=Prettier biome=Biome golangci-lint=golangci-lint pre-commit=pre-commit docker=Docker webpack=Webpack
    docker-compose=Docker podman=Podman kubectl=Kubernetes helm=Helm terraform=Terraform pulumi=Pulumi ansible=Ansible
    vercel=Vercel netlify=Netlify heroku=Heroku flyctl=Fly.io aws=AWS gcloud=GCP az=Azure psql=PostgreSQL mysql=MySQL
    redis-cli=Redis sqlite3=SQLite mongosh=MongoDB alembic=Alembic prisma=Prisma dbt=dbt vite=Vite
    rails=Rails esbuild=esbuild
"""
_TOOLS = dict(pair.split("=") for pair in _COMMANDS.split())
_FIRST_WORD = re.compile(
    r"\s*(?:(?:cd|export)\s[^&;|\n]{0,200}&&\s*)?(?:(?:sudo|time|npx|uv run|poetry run)\s+)?([\w./-]{1,40})"
)


def tool_that_ran(use: ToolUse) -> str | None:
    """The name of the tool that ran. None if no known tool ran, or if it failed."""
    if use.has_failed:
        return None
    match = _FIRST_WORD.match(command_of(use))
    return None if match is None else _TOOLS.get(match[1])


def use_of(tool: str, project: str, source: Source) -> FactDraft:
    """The fact that the project uses ``tool``, as ``source`` shows."""
    return FactDraft(
        subject=project,
        subject_type=EntityType.PROJECT,
        predicate="uses",
        object=tool,
        confidence=OBSERVED,
        source_type=SourceType.OBSERVED,
        source=source,
    )


# Names of tools, languages and services.

_TOOL_NAMES = """
    Postgres PostgreSQL MySQL MariaDB SQLite Redis Valkey MongoDB DynamoDB Cassandra Elasticsearch OpenSearch Kafka
    RabbitMQ NATS Celery Docker Podman Kubernetes Helm Terraform Pulumi Ansible Vagrant Nginx Caddy Traefik Apache
    Vercel Netlify Heroku Fly.io Railway Render Cloudflare AWS GCP Azure DigitalOcean Hetzner Supabase Firebase
    GitHub GitLab Bitbucket Jenkins CircleCI Travis Buildkite Jira Linear Slack Discord Notion Sentry Datadog Grafana
    Prometheus Loki Jaeger OpenTelemetry Stripe Twilio SendGrid Auth0 Okta Keycloak Vault S3 Lambda ECS EKS
    React Vue Svelte Angular Next.js Nuxt Remix Astro Vite Webpack Rollup esbuild Babel Tailwind Bootstrap jQuery
    Express Fastify NestJS Koa Django Flask FastAPI Quart Starlette Rails Laravel Spring Gin Echo Axum Actix Rocket
    Prisma Drizzle SQLAlchemy Alembic Hibernate GORM Knex TypeORM GraphQL gRPC tRPC Apollo Protobuf
    pytest unittest Jest Vitest Mocha Cypress Playwright Selenium Hypothesis JUnit RSpec Ginkgo testify
    npm pnpm Yarn Bun Deno Node Node.js pip uv Poetry Conda Pipenv tox nox Cargo Gradle Maven Bazel Make CMake Nix
    Ruff Black mypy Pyright Pylint Flake8 isort ESLint Prettier Biome Rubocop Clippy golangci-lint pre-commit
    Trio asyncio AnyIO Celery Airflow Dagster Prefect Spark Hadoop Flink dbt Snowflake BigQuery Redshift DuckDB
    ClickHouse Pandas NumPy PyTorch TensorFlow scikit-learn ONNX LangChain Ollama OpenAI Anthropic Claude Kiro Codex
    Copilot Cursor Vim Neovim Emacs VSCode IntelliJ Zed tmux zsh bash fish Linux Ubuntu Debian Fedora macOS Windows
    Electron Tauri Flutter Expo Xcode Android iOS Storybook Figma Git Mercurial Subversion SQS SNS Pinecone Qdrant
    Weaviate Milvus Chroma pgvector Meilisearch Algolia Temporal Zapier
    Python JavaScript TypeScript Go Golang Rust Java Kotlin Scala Ruby PHP Perl C C++ C# Swift Objective-C Haskell OCaml
    Elixir Erlang Clojure Lua R Julia Dart Zig Nim SQL HTML CSS PowerShell Markdown YAML TOML JSON
"""
KNOWN = {name.casefold(): name for name in _TOOL_NAMES.split()}
"""The usual spelling of each name, by its small letters."""
_SAME = (
    "Postgres=PostgreSQL Kubernetes=k8s Go=Golang MongoDB=Mongo Node.js=NodeJS Next.js=NextJS Vue=Vue.js React=React.js"
)
SAME = {other: name for name, _, other in (pair.partition("=") for pair in _SAME.casefold().split())}
"""The usual name of a tool with two names, by the other one. Both are in small letters."""
COMMON_WORDS = word_set("""
    go make c r black fish linear render bun echo express flask gin helm julia notion poetry railway rocket rust spark
    spring swift temporal vault hypothesis cursor apollo nix node
""")
"""Names that are everyday words in small letters."""

COMMON_NOUNS = word_set("""
    database databases db server servers cluster backend frontend api queue cache caching storage
    hosting everywhere internally locally workflows actions containers container functions runner tests
    testing migrations pipeline exclusively
""")
"""Nouns that may follow the name of a tool."""

WORK_WORDS = word_set("""
    api apis agent agents backend branch branches build builds changelog ci cli code codebase comment comments commit
    commits component components config configuration container containers credentials css database dependencies
    dependency deploy deployment deployments docs docstring docstrings documentation emojis endpoint endpoints env
    exceptions file files fixtures force-push frontend function functions hooks imports indentation integration lint
    linter linting lockfile log logging logs main master merge merging migration migrations mock mocks module modules
    package packages pipeline pr production prs pull push python queries query rebase refactor regex release releases
    repo repository schema schemas script scripts secrets semicolons server servers spec sql squash staging submodules
    table tables tabs terminal test tests tokens trunk type types typescript unit ui variable variables yaml
""")
"""Words for parts of any project. Advice for life has the form of a wish too, but none of these words."""


def is_known(word: str) -> bool:
    """Whether ``word`` names a known tool or language, and is not meant as an everyday word."""
    return word.casefold() in KNOWN and word not in COMMON_WORDS


def known_at_start(words: list[str]) -> str | None:
    """The known tool or language at the start of ``words``, with its version. Only a common noun may follow."""
    name = KNOWN.get(words[0].casefold())
    if name is None or (
        words[0].islower() and words[0] in {"go", "make", "c", "r", "black", "fish", "linear", "render"}
    ):
        return None
    rest = words[1:]
    if rest and re.fullmatch(r"v?\d[\w.]*", rest[0]):
        rest = rest[1:]
        name = f"{name} {words[1]}"
    return name if not rest or rest[0].casefold() in COMMON_NOUNS else None


# Facts that a sentence states so plainly that no model is needed: which tools, port and branch the project uses.
#
# Precision comes before recall. A form reads a sentence from its first word to its last. After the statement only a
# reason or a time may follow: if that denies, asks, limits or supposes anything, the sentence states nothing. And only
# names in ``KNOWN`` count as used, dropped or replaced.

STATED = 1.0

_LEAD = re.compile(
    r"(?i)^(?:(?:yes|yeah|yep|ok(?:ay)?|well|and|also|btw|by the way|fyi|(?:please )?(?:note|remember)(?: that)?"
    r"|(?:it )?turns out(?: that)?|change of plans?)[,.:!]?\s+){1,2}",
)
_CORRECTS = re.compile(
    r"(?i)^(?:(?:no|nope|actually|sorry|correction|wrong|(?:that|it)(?:'s| is| was) (?:wrong|not right)"
    r"|i was wrong|my mistake)[,.:;!]\s+|actually\s+(?=(?:we|the|our)\b)){1,3}",
)
_CHANGES = re.compile(r"(?i)\bnow\b|^change of plans?\b")
"""With one of these words, a denied value was true until then."""
_UNREAD = re.compile(
    r"(?i)\b(?:once|while|or|but|though|although|however|except|only|would|could|should|might|may|maybe|perhaps|probably"
    r"|will|going to|plan(?:s|ned|ning)?|want|hope|think|guess|example|said|says|claims?|according|wrong|used to"
    r"|other|another|else)\b",
)
"""Words that no form reads. After a statement they may reverse it, as a denial or a condition does."""
_APOSTROPHE = re.compile(r"(?i)(?<=\bdo)nt\b|(?<=\bdoes)nt\b|(?<=\bis)nt\b")
_QUOTES = re.compile(r"[?\"\u201c\u201d\u00ab]|(?<!\w)'")

_WE = (
    r"(?:we|(?:our|this|the) (?:project|app|application|repo|repository|team|service|backend|frontend|api|code ?base"
    r"|stack))(?:'re|'ve|'s| are| is| have| has)?(?: (?:now|currently|already|also|still|finally|recently|just|all))*"
)
_WE_USE = (
    rf"(?:{_WE} (?:uses?|using)|wir (?:be)?nutzen|wir verwenden|(?:nosotros )?usamos|(?:on|nous) utilis(?:e|ons)|usiamo"
    r"|we gebruiken|мы используем)"
)
_NAME = r"`?[\w@][\w.+#/-]*`?(?: v?\d[\w.]*)?"
_NAMES = rf"(?P<objects>{_NAME}(?:(?:,? (?:and|&)|,) {_NAME}){{0,2}})"
_WHEN = (
    r"(?: (?:now|already|again|today|yesterday|recently|here|any ?more|any longer|at all|(?:last|this) \w+|since \w+"
    r"|in (?:(?-i:[A-Z])[a-z]+|\d{4})|on (?:\d{4}-\d\d-\d\d|(?-i:[A-Z])[a-z]+ \d+)|(?:a|\w{3,6}|\d+) \w+ ago))*"
)
_REASON = r"because|since|so|as|which|by the way|btw|please|thanks"
_END = rf"{_WHEN}(?P<tail>[,;:]? (?:{_REASON})\b.*)?[.!]*"
"""A time or a reason, and nothing that limits the statement to a part ("in the tests")."""
_FOR = (
    rf"(?: (?:{'|'.join(sorted(COMMON_NOUNS))}))?(?: everywhere| again| instead)?{_WHEN}"
    rf"(?P<tail>[,;:]? (?:{_REASON}|for|to)\b.*)?[.!]*"
)
"""The text that may follow the object of "use". Another noun would make another name, as in "Kafka Streams"."""
_PORT = r"(?P<object>\d{2,5})(?:,? not (?P<wrong>\d{2,5}))?"
_BRANCH = (
    r"(?P<object>main|master|trunk|develop|dev|stable|staging|production|next|`[\w./-]+`|\w+[/-][\w./-]+)"
    r"(?:,? not (?P<wrong>`?[\w./-]+`?))?"
)
_IS = r"(?:is(?: now)?|(?:was|has been) (?:changed|moved|set) to)"
_GONE = r"(?:don't|doesn't|do not|does not|no longer) use|stopped using|dropped|removed|ditched|got rid of"
_MOVED = r"(?:switched|moved|migrated|changed) from"
_LISTENS = r"(?: is)?(?: now)? (?:listens|listening|runs|running) on port"
_FORMS: Mapping[str, Sequence[str]] = {
    "uses": (
        rf"{_WE} (?P<gone>{_GONE}) {_NAMES}{_END}",
        rf"{_WE_USE} (?P<object>{_NAME})(?: now)?,? (?:not|nicht|kein|pas|no|non|geen) (?P<wrong>{_NAME}){_END}",
        rf"{_WE_USE} {_NAMES}{_FOR}",
        rf"{_WE} (?:{_MOVED}|replaced) (?P<old>{_NAME}) (?:(?:over )?to|with|by) (?P<object>{_NAME}){_END}",
    ),
    "listens_on_port": (
        rf"(?:(?:the|our) )?port {_IS} {_PORT}{_END}",
        rf"(?:(?:the|our) )?port (?P<gone>isn't|is not|is no longer) (?P<object>\d{{2,5}}){_END}",
        rf"(?:the|our|this) (?P<part>(?:[a-z][\w-]* )?[a-z][\w-]*?){_LISTENS} {_PORT}{_END}",
    ),
    "default_branch": (
        rf"(?:our|the) default branch {_IS} {_BRANCH}{_END}",
        rf"{_WE} (?:renamed|changed|switched) the default branch to {_BRANCH}{_END}",
    ),
}
_READERS = [(re.compile(form, re.IGNORECASE), predicate) for predicate, forms in _FORMS.items() for form in forms]
_WHOLE = frozenset({"project", "app", "application", "service", "repo", "repository", "site"})
"""A part with one of these names is the project itself."""
_NO_PART = frozenset({"same", "other", "old", "new", "first", "second", "only", "which", "what", "that"})


def facts_in(sentence: str, project: str, source: Source) -> list[FactDraft]:
    """The facts that ``sentence`` states of ``project``.

    Only its own words show whether it corrects or changes an earlier statement, which may be in another batch.
    """
    plain = sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = _APOSTROPHE.sub("n't", " ".join(plain.split()).strip(" -*"))
    if _QUOTES.search(text):
        return []
    is_change = _CHANGES.search(text) is not None
    text, corrects = _CORRECTS.subn("", _LEAD.sub("", text))
    for form, predicate in _READERS:
        match = form.fullmatch(text)
        if match is not None:
            said = {name: each for name, each in match.groupdict().items() if each}
            is_correction = (corrects > 0 or "wrong" in said) and not is_change
            return list(_drafts(said, predicate, text, project, source, is_correction=is_correction))
    return []


def _drafts(  # the parts that a form read, with all that they may depend on
    said: Mapping[str, str], predicate: str, text: str, project: str, source: Source, *, is_correction: bool
) -> Iterator[FactDraft]:
    """The facts that a form read. None if words follow that may reverse them, or if a name is not known."""
    gone = said.get("wrong") or said.get("old")
    replaces = None if gone is None else _named(gone, predicate)
    part = set(said.get("part", "").lower().split())
    tail = said.get("tail", "")
    is_turned = denies(tail) or supposes(tail) or _UNREAD.search(tail) is not None
    if is_turned or part & _NO_PART or (gone is not None and replaces is None):
        return
    names = re.split(r",? (?:and|&) |, ", said.get("objects") or said["object"])
    objects = [object_ for each in names if (object_ := _named(each, predicate)) is not None]
    for object_ in objects if len(objects) == len(names) else ():
        yield FactDraft(
            subject=said["part"] if part - _WHOLE else project,
            subject_type=EntityType.PROJECT,
            predicate=predicate,
            object=object_,
            confidence=STATED,
            source_type=SourceType.CORRECTED if is_correction else SourceType.STATED,
            replaces=replaces,
            is_denied="gone" in said,
            was_never_true=is_correction,
            valid_from=since_when(text, now=source.said_at, is_change="gone" in said or "old" in said),
            source=source,
        )


def _named(name: str, predicate: str) -> str | None:
    value = name.strip("`.,;:!")
    return known_at_start(value.split()) if predicate == "uses" else value
