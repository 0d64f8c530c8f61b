"""Where a project is kept, built and run, and the names of the packages that it uses.

Its remote and default branch are read from the files of the repository. Git itself is never run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from kiro_learn.learning.profile.commands import FileText, Folder, named, slot_of_command, version
from kiro_learn.model.namespace import USUAL_BRANCHES
from kiro_learn.model.profile import ProfileFact, Slot

CONFIG, REMOTE_HEAD, PACKED = ".git/config", ".git/refs/remotes/origin/HEAD", ".git/packed-refs"
BRANCH_FILES = tuple(f".git/refs/{place}/{name}" for place in ("remotes/origin", "heads") for name in USUAL_BRANCHES)

_ORIGIN = re.compile(r"^\s*\[remote \"origin\"\]")
_URL = re.compile(r"^\s*url\s*=\s*(\S{1,300})\s*$")
_PLACE = re.compile(
    r"(?:(?:https?|ssh|git)://(?:[^/@\s]*@)?|(?:[\w.-]+@)?)([\w.-]+\.[A-Za-z]{2,}|localhost)(?::\d+)?[:/]([\w./~-]+?)"
    r"(?:\.git)?/?"
)
_HEAD = re.compile(r"ref: refs/remotes/origin/([\w./-]{1,60})\s*")
_PACKED = re.compile(r"^[0-9a-f]{40,64} refs/(?:remotes/origin|heads)/([\w./-]{1,60})$", re.MULTILINE)


def facts_of_git(folder: Folder) -> Iterator[ProfileFact]:
    """The remote, without a user or password in its address, and the default branch."""
    if config := folder.file(CONFIG):
        yield from _remote(config)
    yield from _branch(folder)


def _remote(config: FileText) -> Iterator[ProfileFact]:
    is_origin = False
    for number, line in enumerate(config.text.splitlines(), 1):
        if line.lstrip().startswith("["):
            is_origin = _ORIGIN.match(line) is not None
        elif is_origin and (found := _URL.match(line)):
            if place := _PLACE.fullmatch(found[1]):
                yield from config.facts(Slot.REMOTE, f"{place[1]}/{place[2].lstrip('/')}", number)
            return


def _branch(folder: Folder) -> Iterator[ProfileFact]:
    """The branch that the remote calls its own; else the only usual branch, if there is exactly one."""
    head = folder.file(REMOTE_HEAD)
    said = _HEAD.fullmatch(head.text) if head else None
    if head and said:
        yield from head.facts(Slot.BRANCH, said[1], 1)
        return
    packed = folder.file(PACKED)
    names = {path.rpartition("/")[2]: FileText(path, "") for path in BRANCH_FILES if folder.has(path)}
    for name in _PACKED.findall(packed.text) if packed else ():
        if packed and name in USUAL_BRANCHES:
            names.setdefault(name, packed)
    if len(names) == 1:
        for name, file in names.items():
            yield from file.facts(Slot.BRANCH, name, file.line_of(rf"/{name}$"))


# Where a project is built and runs: CI, containers, and the services that it is deployed to.
#
# Of YAML, only the few lines that are needed are read. Aliases, anchors and tags have no meaning here.

_SYSTEMS = {
    ".gitlab-ci.yml": "GitLab CI",
    ".circleci/config.yml": "CircleCI",
    "Jenkinsfile": "Jenkins",
    "azure-pipelines.yml": "Azure Pipelines",
    ".travis.yml": "Travis CI",
    "bitbucket-pipelines.yml": "Bitbucket Pipelines",
    ".buildkite/pipeline.yml": "Buildkite",
    ".woodpecker.yml": "Woodpecker",
}
_PLATFORMS = {
    "fly.toml": ("Fly.io", "fly deploy"),
    "vercel.json": ("Vercel", "vercel --prod"),
    "netlify.toml": ("Netlify", "netlify deploy --prod"),
    "wrangler.toml": ("Cloudflare Workers", "wrangler deploy"),
    "wrangler.jsonc": ("Cloudflare Workers", "wrangler deploy"),
    "firebase.json": ("Firebase", "firebase deploy"),
    "render.yaml": ("Render", ""),
    "railway.json": ("Railway", "railway up"),
    "railway.toml": ("Railway", "railway up"),
    "serverless.yml": ("", "serverless deploy"),
    "config/deploy.yml": ("", "kamal deploy"),
    "cdk.json": ("AWS", "cdk deploy"),
    "samconfig.toml": ("AWS", "sam deploy"),
    "skaffold.yaml": ("Kubernetes", "skaffold run"),
    "Pulumi.yaml": ("", "pulumi up"),
}
_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)?([\w./:@-]{1,100})(?:\s+AS\s+\S+)?\s*", re.IGNORECASE)
_IMAGE = re.compile(r"\s+image:\s*[\"']?([\w./:@-]{1,100})[\"']?\s*(?:#.*)?")
_RUN = re.compile(r"\s*(?:-\s*)?run:\s*(.*)")
_STEP = re.compile(r"\s*-\s+(\S.*)")
_COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
COMPOSE_FILES, PLATFORM_FILES = _COMPOSE, tuple(_PLATFORMS)
CI_FILES = tuple(_SYSTEMS)


def facts(folder: Folder) -> Iterator[ProfileFact]:
    """The facts from the files of platforms, containers and CI systems."""
    yield from _platforms(folder)
    yield from _services(folder)
    if file := folder.file("Dockerfile"):
        yield from _images(file)
    yield from _systems(folder)


def commands_of_ci(folder: Folder) -> Iterator[ProfileFact]:
    """The commands in CI files that have a slot."""
    for file in folder.files_in(".github/workflows/", ".yml", ".yaml"):
        yield from _commands(file, _RUN)
    if gitlab := folder.file(".gitlab-ci.yml"):
        yield from _commands(gitlab, _STEP)


def _platforms(folder: Folder) -> Iterator[ProfileFact]:
    for path, (platform, command) in _PLATFORMS.items():
        file = folder.file(path)
        if file is not None:
            yield from file.facts(Slot.PLATFORM, platform)
            yield from file.facts(Slot.DEPLOY, command, is_usual=True)


def _services(folder: Folder) -> Iterator[ProfileFact]:
    file = folder.file(*_COMPOSE)
    if file is None:
        return
    for number, line in enumerate(file.text.splitlines(), 1):
        if match := _IMAGE.fullmatch(line):
            image, _, tag = match[1].partition("@")[0].partition(":")
            if shown := IMAGES.get(image.removeprefix("docker.io/").removeprefix("library/")):
                yield from file.facts(Slot.SERVICE, named(shown, version(tag)), number)
    if built := file.line_of(r"^\s+build:"):  # otherwise it starts services for the project, and not the project
        yield from file.facts(Slot.RUN, "docker compose up", built)


def _images(file: FileText) -> Iterator[ProfileFact]:
    """The first base image of the file. A stage that is built on another stage does not count."""
    lines = [
        (number, match[1]) for number, line in enumerate(file.text.splitlines(), 1) if (match := _FROM.fullmatch(line))
    ]
    outside = [(number, image) for number, image in lines if ":" in image or "/" in image]
    if outside:
        number, image = outside[0]
        yield from file.facts(Slot.IMAGE, image, number)


def _systems(folder: Folder) -> Iterator[ProfileFact]:
    workflows = folder.files_in(".github/workflows/", ".yml", ".yaml")
    if workflows:
        yield from workflows[0].facts(Slot.CI, "GitHub Actions")
    for path, system in _SYSTEMS.items():
        if config := folder.file(path):
            yield from config.facts(Slot.CI, system)


def _commands(file: FileText, form: re.Pattern[str]) -> Iterator[ProfileFact]:
    lines = file.text.splitlines()
    indent = -1
    for number, line in enumerate(lines, 1):
        depth = len(line) - len(line.lstrip())
        match = form.fullmatch(line)
        if match and match[1].strip() in {"|", ">", "|-", ">-"}:
            indent = depth
        elif match:
            indent = -1
            yield from _command(file, match[1], number)
        elif indent >= 0 and line.strip():
            if depth > indent:
                yield from _command(file, line, number)
            else:
                indent = -1


def _command(file: FileText, text: str, number: int) -> Iterator[ProfileFact]:
    command = text.strip().strip("'\"")
    slot = None if "${{" in command or "$" in command else slot_of_command(command)
    if slot is not None:
        yield from file.facts(slot, command, number)


# The usual names of the frameworks and databases whose packages a project uses.


def _pairs(text: str) -> dict[str, str]:
    """The table that ``text`` holds as ``name=shown;name=shown``."""
    parted = (each.partition("=") for each in text.split(";"))
    return {name: shown for name, _, shown in parted}


NPM = _pairs(
    "next=Next.js;react=React;vue=Vue;nuxt=Nuxt;svelte=Svelte;@sveltejs/kit=SvelteKit;@angular/core=Angular;"
    "solid-js=Solid;astro=Astro;@remix-run/react=Remix;gatsby=Gatsby;express=Express;fastify=Fastify;"
    "@nestjs/core=NestJS;koa=Koa;hono=Hono;@hapi/hapi=hapi;electron=Electron;react-native=React Native;expo=Expo;"
    "prisma=Prisma;drizzle-orm=Drizzle;typeorm=TypeORM;mongoose=Mongoose;sequelize=Sequelize;knex=Knex;"
    "vite=Vite;webpack=webpack;tailwindcss=Tailwind CSS;turbo=Turborepo;nx=Nx;lerna=Lerna;vitest=Vitest;jest=Jest;"
    "mocha=Mocha;@playwright/test=Playwright;cypress=Cypress;eslint=ESLint;prettier=Prettier;"
    "@biomejs/biome=Biome;storybook=Storybook"
)
PYPI = _pairs(
    "django=Django;flask=Flask;fastapi=FastAPI;starlette=Starlette;quart=Quart;tornado=Tornado;aiohttp=aiohttp;"
    "litestar=Litestar;sanic=Sanic;djangorestframework=Django REST framework;sqlalchemy=SQLAlchemy;alembic=Alembic;"
    "sqlmodel=SQLModel;pydantic=Pydantic;celery=Celery;trio=Trio;click=click;typer=Typer;numpy=NumPy;pandas=pandas;"
    "torch=PyTorch;tensorflow=TensorFlow;scikit-learn=scikit-learn;streamlit=Streamlit;scrapy=Scrapy;pytest=pytest;"
    "ruff=Ruff;mypy=mypy;black=Black;pyright=Pyright;flake8=Flake8;pylint=Pylint;isort=isort;gunicorn=Gunicorn;"
    "uvicorn=Uvicorn"
)
CRATES = _pairs(
    "axum=Axum;actix-web=Actix Web;rocket=Rocket;warp=warp;tokio=Tokio;sqlx=SQLx;diesel=Diesel;sea-orm=SeaORM;"
    "clap=clap;tauri=Tauri;bevy=Bevy;tonic=tonic;leptos=Leptos;yew=Yew;serde=Serde"
)
GO = _pairs(
    "github.com/gin-gonic/gin=Gin;github.com/labstack/echo/v4=Echo;github.com/gofiber/fiber/v2=Fiber;"
    "github.com/go-chi/chi/v5=chi;gorm.io/gorm=GORM;github.com/jackc/pgx/v5=pgx;github.com/spf13/cobra=Cobra;"
    "google.golang.org/grpc=gRPC;github.com/stretchr/testify=testify;entgo.io/ent=Ent;"
    "github.com/gorilla/mux=Gorilla Mux"
)
GEMS = _pairs(
    "rails=Rails;sinatra=Sinatra;hanami=Hanami;sidekiq=Sidekiq;rspec=RSpec;rspec-rails=RSpec;rubocop=RuboCop;"
    "puma=Puma;minitest=Minitest;jekyll=Jekyll;turbo-rails=Turbo;standard=Standard"
)
PACKAGIST = _pairs(
    "laravel/framework=Laravel;symfony/framework-bundle=Symfony;slim/slim=Slim;phpunit/phpunit=PHPUnit;"
    "pestphp/pest=Pest;laravel/pint=Pint;phpstan/phpstan=PHPStan;larastan/larastan=Larastan;doctrine/orm=Doctrine;"
    "livewire/livewire=Livewire;inertiajs/inertia-laravel=Inertia"
)
HEX = _pairs(
    "phoenix=Phoenix;phoenix_live_view=Phoenix LiveView;ecto_sql=Ecto;oban=Oban;absinthe=Absinthe;credo=Credo;"
    "dialyxir=Dialyxir;nerves=Nerves;ash=Ash"
)
NUGET = _pairs(
    "Microsoft.EntityFrameworkCore=Entity Framework Core;xunit=xUnit;NUnit=NUnit;MSTest.TestFramework=MSTest;"
    "Dapper=Dapper;MediatR=MediatR;Serilog.AspNetCore=Serilog;MassTransit=MassTransit"
)
MAVEN = _pairs(
    "spring-boot-starter-web=Spring Web;spring-boot-starter-data-jpa=Spring Data JPA;quarkus-core=Quarkus;"
    "junit-jupiter=JUnit;micronaut-runtime=Micronaut;ktor-server-core=Ktor;hibernate-core=Hibernate;"
    "flyway-core=Flyway;lombok=Lombok"
)
IMAGES = _pairs(
    "postgres=PostgreSQL;postgis/postgis=PostgreSQL;mysql=MySQL;mariadb=MariaDB;mongo=MongoDB;redis=Redis;"
    "valkey/valkey=Valkey;rabbitmq=RabbitMQ;memcached=Memcached;elasticsearch=Elasticsearch;"
    "opensearchproject/opensearch=OpenSearch;nats=NATS;minio/minio=MinIO;clickhouse/clickhouse-server=ClickHouse;"
    "confluentinc/cp-kafka=Kafka;bitnami/kafka=Kafka;apache/kafka=Kafka;nginx=nginx;traefik=Traefik;caddy=Caddy;"
    "qdrant/qdrant=Qdrant;getmeili/meilisearch=Meilisearch;localstack/localstack=LocalStack;neo4j=Neo4j"
)


def frameworks(
    file: FileText, versions: Mapping[str, str], table: Mapping[str, str], line_of: Callable[[str], int]
) -> Iterator[ProfileFact]:
    """A fact for each package of ``versions`` that ``table`` has, in the order of the table.

    Args:
      versions: the version of each package that ``file`` names; empty where the file has none.
      line_of: the line on which ``file`` names a package.
    """
    told: set[str] = set()
    for package, shown in table.items():
        if package in versions and shown not in told:
            told.add(shown)
            yield from file.facts(Slot.FRAMEWORK, named(shown, versions[package]), line_of(package))
