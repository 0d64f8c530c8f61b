"""Names that are tools, languages and services."""

from __future__ import annotations

import re

_TOOLS = """
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
KNOWN = {name.casefold(): name for name in _TOOLS.split()}
"""How each is written, by its name in small letters."""
_SAME = (
    "Postgres=PostgreSQL Kubernetes=k8s Go=Golang MongoDB=Mongo Node.js=NodeJS Next.js=NextJS Vue=Vue.js React=React.js"
)
SAME = {other: name for name, _, other in (pair.partition("=") for pair in _SAME.casefold().split())}
"""The usual name of what has two, by the other one, both in small letters."""
_COMMON_WORDS = """
    go make c r black fish linear render bun echo express flask gin helm julia notion poetry railway rocket rust spark
    spring swift temporal vault hypothesis cursor apollo nix node
"""
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
"""Names that are words of every day in small letters."""

_COMMON_NOUNS_WORDS = """
    database databases db server servers cluster backend frontend api queue cache caching storage
    hosting everywhere internally locally workflows actions containers container functions runner tests
    testing migrations pipeline exclusively
"""
COMMON_NOUNS = frozenset(_COMMON_NOUNS_WORDS.split())
"""What may stand behind a name that is meant."""

_WORK_WORDS = """
    api apis agent agents backend branch branches build builds changelog ci cli code codebase comment comments commit
    commits component components config configuration container containers credentials css database dependencies
    dependency deploy deployment deployments docs docstring docstrings documentation emojis endpoint endpoints env
    exceptions file files fixtures force-push frontend function functions hooks imports indentation integration lint
    linter linting lockfile log logging logs main master merge merging migration migrations mock mocks module modules
    package packages pipeline pr production prs pull push python queries query rebase refactor regex release releases
    repo repository schema schemas script scripts secrets semicolons server servers spec sql squash staging submodules
    table tables tabs terminal test tests tokens trunk type types typescript unit ui variable variables yaml
"""
WORK_WORDS = frozenset(_WORK_WORDS.split())
"""What a project has, whatever it is about. People give each other advice for life in the words of a wish, without one
of these."""


def is_known(word: str) -> bool:
    """Whether a word of a sentence names one of these, and not what the same letters mean every day."""
    return word.casefold() in KNOWN and word not in COMMON_WORDS


def known_at_start(words: list[str]) -> str | None:
    """A known tool or language, alone or with its version, and nothing but a common noun behind it."""
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
