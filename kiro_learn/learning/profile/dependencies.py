"""What the packages that a project names are: frameworks and databases, by the names that people call them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kiro_learn.learning.profile.texts import FileText, named
from kiro_learn.model.profile import ProfileFact, Slot


def _pairs(text: str) -> dict[str, str]:
    pairs = (line.strip().partition("=") for line in text.split(";"))
    return {name: shown for name, _, shown in pairs}


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
    """A fact for each package of ``versions`` that ``table`` knows, in the order of the table.

    Args:
      versions: of the packages that ``file`` names; empty where it names none.
      line_of: where it names a package.
    """
    told: set[str] = set()
    for package, shown in table.items():
        if package in versions and shown not in told:
            told.add(shown)
            yield from file.facts(Slot.FRAMEWORK, named(shown, versions[package]), line_of(package))
