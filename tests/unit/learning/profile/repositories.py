"""Repositories of many languages: the files that say how they are built, and the facts a reader lists from them."""

from __future__ import annotations

import attrs


def git(address: str, head: str = "main") -> dict[str, str]:
    config = (
        f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {address}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    )
    return {".git/config": config, ".git/refs/remotes/origin/HEAD": f"ref: refs/remotes/origin/{head}\n"}


@attrs.frozen
class Repository:
    """A repository's files by path, and the facts listed from them, one on a line: the slot and its value."""

    files: dict[str, str]
    listed: str

    def facts(self) -> set[tuple[str, str]]:
        lines = (line.strip().partition(": ") for line in self.listed.strip().splitlines())
        return {(slot, value) for slot, _, value in lines}


NEXT_SHOP = Repository(
    {
        **git("git@github.com:acme/shop.git"),
        "package.json": """{
  "name": "shop",
  "private": true,
  "packageManager": "pnpm@9.1.0+sha512.67f5879916a9293e5cf059c23853d571beaf4f753c707f40cb22bed5fb1578c6",
  "engines": { "node": ">=20.11" },
  "scripts": {
    "dev": "next dev",
    "build": "next build",
    "start": "next start",
    "lint": "next lint",
    "test": "vitest run",
    "test:e2e": "playwright test",
    "typecheck": "tsc --noEmit",
    "format": "prettier --write .",
    "db:migrate": "prisma migrate dev"
  },
  "dependencies": {
    "@prisma/client": "^5.14.0",
    "next": "14.2.3",
    "react": "^18.3.1",
    "react-dom": "^18.3.1"
  },
  "devDependencies": {
    "@playwright/test": "^1.44.0",
    "eslint": "^8.57.0",
    "prettier": "^3.2.5",
    "prisma": "^5.14.0",
    "typescript": "^5.4.5",
    "vitest": "^1.6.0"
  }
}
""",
        "pnpm-lock.yaml": "",
        ".nvmrc": "v20.11.1\n",
        "tsconfig.json": "",
        "vercel.json": "",
        "docker-compose.yml": """services:
  db:
    image: postgres:16-alpine
    ports: ["5432:5432"]
  cache:
    image: "redis:7"
""",
        ".github/workflows/ci.yml": "on: [push]\njobs:\n  t:\n    steps:\n      - run: pnpm install --frozen-file\n",
    },
    """
    language: TypeScript 5.4.5
    language: Node.js 20.11.1
    language: Node.js >=20.11
    framework: Next.js 14.2.3
    framework: React 18.3.1
    framework: Prisma 5.14.0
    framework: Vitest 1.6.0
    framework: Playwright 1.44.0
    framework: ESLint 8.57.0
    framework: Prettier 3.2.5
    service: PostgreSQL 16
    service: Redis 7
    package manager: pnpm 9.1.0
    install: pnpm install
    add a package: pnpm add NAME
    build: pnpm build
    test: pnpm test
    lint: pnpm lint
    format: pnpm format
    check types: pnpm typecheck
    run: pnpm dev
    run: pnpm start
    migrate: pnpm db:migrate
    deploy: vercel --prod
    deployed on: Vercel
    default branch: main
    remote: github.com/acme/shop
    CI: GitHub Actions
    """,
)

DJANGO_API = Repository(
    {
        **git("https://gitlab.com/acme/billing/api.git", "develop"),
        "pyproject.toml": """[project]
name = "billing-api"
version = "2.3.0"
requires-python = ">=3.12"
dependencies = [
    "django>=5.0,<5.1",
    "djangorestframework~=3.15",
    "psycopg[binary]>=3.1",
    "celery==5.4.0",
]

[dependency-groups]
dev = ["pytest>=8.2", "pytest-django", "ruff>=0.4", "mypy"]

[tool.ruff]
line-length = 100

[tool.ruff.format]
quote-style = "double"

[tool.mypy]
files = ["billing"]

[tool.pytest.ini_options]
DJANGO_SETTINGS_MODULE = "billing.settings"
""",
        "uv.lock": "",
        ".python-version": "3.12.3\n",
        "manage.py": "",
        ".pre-commit-config.yaml": "",
        "Dockerfile": "FROM python:3.12-slim AS base\nRUN pip install uv\nFROM base\nCMD gunicorn\n",
        ".gitlab-ci.yml": "test:\n  image: python:3.12\n  script:\n    - uv sync\n    - uv run pytest -x\n",
        "fly.toml": "",
    },
    """
    language: Python 3.12.3
    language: Python >=3.12
    framework: Django 5.0
    framework: Django REST framework 3.15
    framework: Celery 5.4.0
    framework: pytest 8.2
    framework: Ruff 0.4
    framework: mypy
    package manager: uv
    install: uv sync
    add a package: uv add NAME
    test: uv run pytest
    lint: uv run ruff check
    lint: uv run pre-commit run --all-files
    format: uv run ruff format
    check types: uv run mypy
    run: uv run python manage.py runserver
    migrate: uv run python manage.py migrate
    deploy: fly deploy
    deployed on: Fly.io
    default branch: develop
    remote: gitlab.com/acme/billing/api
    CI: GitLab CI
    image: python:3.12-slim
    """,
)

AXUM_SERVICE = Repository(
    {
        **git("ssh://git@github.com/acme/ledger.git"),
        "Cargo.toml": """[package]
name = "ledger"
version = "0.4.1"
edition = "2021"
rust-version = "1.75"

[dependencies]
axum = "0.7.5"
tokio = { version = "1.37", features = ["full"] }
sqlx = { version = "0.7", features = ["postgres", "runtime-tokio"] }
serde = { version = "1.0", features = ["derive"] }

[dev-dependencies]
insta = "1.38"
""",
        "rust-toolchain.toml": '[toolchain]\nchannel = "1.78.0"\ncomponents = ["clippy", "rustfmt"]\n',
        "rustfmt.toml": "",
        "src/main.rs": "",
        "compose.yaml": "services:\n  postgres:\n    image: postgres:15.6\n",
        ".github/workflows/ci.yaml": """jobs:
  check:
    steps:
      - uses: actions/checkout@v4
      - run: cargo fmt --check
      - run: cargo clippy --all-targets -- -D warnings
      - name: Test
        run: |
          cargo test --workspace
""",
    },
    """
    language: Rust 1.78.0
    language: Rust >=1.75
    language: Rust (edition 2021)
    framework: Axum 0.7.5
    framework: Tokio 1.37
    framework: SQLx 0.7
    framework: Serde 1.0
    service: PostgreSQL 15.6
    package manager: Cargo
    add a package: cargo add NAME
    build: cargo build
    test: cargo test
    lint: cargo clippy --all-targets -- -D warnings
    format: cargo fmt
    run: cargo run
    default branch: main
    remote: github.com/acme/ledger
    CI: GitHub Actions
    """,
)

GIN_API = Repository(
    {
        **git("https://github.com/acme/gateway"),
        "go.mod": """module github.com/acme/gateway

go 1.22.3

require (
	github.com/gin-gonic/gin v1.10.0
	github.com/jackc/pgx/v5 v5.5.5
	github.com/stretchr/testify v1.9.0
	golang.org/x/net v0.25.0 // indirect
)
""",
        "main.go": "",
        ".golangci.yml": "",
        "Makefile": """VERSION := $(shell git describe)
.PHONY: build test lint run

build: ## compile
	go build -o bin/gateway .

test:
	go test -race ./...

lint:
	golangci-lint run

run: build
	./bin/gateway

migrate-up:
	goose up

install: build
	cp bin/gateway /usr/local/bin
""",
        "Dockerfile": "FROM golang:1.22-alpine AS build\nRUN go build\nFROM scratch\n",
        ".github/workflows/release.yml": "jobs:\n  go:\n    steps:\n      - run: make test\n",
    },
    """
    language: Go 1.22.3
    framework: Gin 1.10.0
    framework: pgx 5.5.5
    framework: testify 1.9.0
    package manager: Go modules
    install: go mod download
    add a package: go get NAME
    build: make build
    test: make test
    lint: make lint
    run: make run
    migrate: make migrate-up
    default branch: main
    remote: github.com/acme/gateway
    CI: GitHub Actions
    image: golang:1.22-alpine
    """,
)

RAILS_APP = Repository(
    {
        ".git/config": '[remote "origin"]\n\turl = git@bitbucket.org:acme/desk.git\n',
        ".git/packed-refs": f"# pack-refs\n{'a' * 40} refs/remotes/origin/master\n{'b' * 40} refs/tags/v1\n",
        "Gemfile": """source "https://rubygems.org"

ruby "3.3.1"

gem "rails", "~> 7.1.3"
gem "pg", "~> 1.1"
gem "puma", ">= 5.0"
gem "sidekiq"

group :development, :test do
  gem "rspec-rails"
  gem "rubocop-rails", require: false
end
""",
        "Gemfile.lock": """GEM
  remote: https://rubygems.org/
  specs:
    puma (6.4.2)
      nio4r (~> 2.0)
    rails (7.1.3.2)
    rspec-rails (6.1.2)
    sidekiq (7.2.4)
""",
        ".ruby-version": "3.3.1\n",
        "bin/dev": "",
        "config/deploy.yml": "",
        "Rakefile": "",
    },
    """
    language: Ruby 3.3.1
    framework: Rails 7.1.3.2
    framework: Puma 6.4.2
    framework: Sidekiq 7.2.4
    framework: RSpec 6.1.2
    package manager: Bundler
    install: bundle install
    add a package: bundle add NAME
    test: bundle exec rspec
    lint: bundle exec rubocop
    run: bin/dev
    migrate: bin/rails db:migrate
    deploy: kamal deploy
    default branch: master
    remote: bitbucket.org/acme/desk
    """,
)

SPRING_MAVEN = Repository(
    {
        **git("https://github.com/acme/orders.git"),
        "pom.xml": """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>3.2.5</version>
  </parent>
  <artifactId>orders</artifactId>
  <properties>
    <java.version>21</java.version>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-web</artifactId>
    </dependency>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-data-jpa</artifactId>
    </dependency>
    <dependency>
      <groupId>org.flywaydb</groupId>
      <artifactId>flyway-core</artifactId>
      <version>10.12.0</version>
    </dependency>
  </dependencies>
</project>
""",
        "mvnw": "",
        "Jenkinsfile": "",
        "docker-compose.yml": "services:\n  db:\n    image: mysql:8.3\n  mq:\n    image: rabbitmq:3.13-alpine #\n",
    },
    """
    language: Java 21
    framework: Spring Boot 3.2.5
    framework: Spring Web
    framework: Spring Data JPA
    framework: Flyway 10.12.0
    service: MySQL 8.3
    service: RabbitMQ 3.13
    package manager: Maven
    build: ./mvnw package
    test: ./mvnw test
    run: ./mvnw spring-boot:run
    default branch: main
    remote: github.com/acme/orders
    CI: Jenkins
    """,
)

KOTLIN_GRADLE = Repository(
    {
        **git("git@github.com:acme/notify.git", "trunk"),
        "build.gradle.kts": """plugins {
    kotlin("jvm") version "1.9.23"
    id("org.jlleitschuh.gradle.ktlint") version "12.1.0"
    application
}

dependencies {
    implementation("io.ktor:ktor-server-core:2.3.10")
    testImplementation("org.junit.jupiter:junit-jupiter:5.10.2")
}

kotlin {
    jvmToolchain(17)
}
""",
        "gradlew": "",
        "gradle/wrapper/gradle-wrapper.properties": "distributionUrl=https\\://services.gradle.org/distributions/gradle-8.7-bin.zip\n",
        ".circleci/config.yml": "",
    },
    """
    language: Kotlin 1.9.23
    language: Java 17
    framework: Ktor 2.3.10
    framework: JUnit 5.10.2
    package manager: Gradle 8.7
    build: ./gradlew build
    test: ./gradlew test
    lint: ./gradlew ktlintCheck
    run: ./gradlew run
    default branch: trunk
    remote: github.com/acme/notify
    CI: CircleCI
    """,
)

LARAVEL_APP = Repository(
    {
        **git("https://github.com/acme/booking.git"),
        "composer.json": """{
    "name": "acme/booking",
    "require": {
        "php": "^8.2",
        "laravel/framework": "^11.0",
        "livewire/livewire": "^3.4"
    },
    "require-dev": {
        "larastan/larastan": "^2.9",
        "laravel/pint": "^1.13",
        "phpunit/phpunit": "^11.0.1"
    },
    "scripts": {
        "lint": "pint --test",
        "post-update-cmd": ["@php artisan vendor:publish"]
    }
}
""",
        "artisan": "",
        "package.json": """{
    "private": true,
    "scripts": { "dev": "vite", "build": "vite build" },
    "devDependencies": { "vite": "^5.0", "tailwindcss": "^3.4.1" }
}
""",
        "package-lock.json": "",
    },
    """
    language: PHP ^8.2
    language: JavaScript
    framework: Laravel 11.0
    framework: Livewire 3.4
    framework: PHPUnit 11.0.1
    framework: Pint 1.13
    framework: Larastan 2.9
    framework: Vite 5.0
    framework: Tailwind CSS 3.4.1
    package manager: Composer
    package manager: npm
    install: composer install
    install: npm install
    add a package: composer require NAME
    add a package: npm install NAME
    build: npm run build
    test: php artisan test
    lint: composer lint
    format: vendor/bin/pint
    check types: vendor/bin/phpstan analyse
    run: npm run dev
    run: php artisan serve
    migrate: php artisan migrate
    default branch: main
    remote: github.com/acme/booking
    """,
)

PHOENIX_APP = Repository(
    {
        **git("git@github.com:acme/chat.git"),
        "mix.exs": """defmodule Chat.MixProject do
  use Mix.Project

  def project do
    [
      app: :chat,
      version: "0.1.0",
      elixir: "~> 1.16",
      deps: deps()
    ]
  end

  defp deps do
    [
      {:phoenix, "~> 1.7.12"},
      {:phoenix_live_view, "~> 0.20.14"},
      {:ecto_sql, "~> 3.11"},
      {:oban, "~> 2.17"},
      {:credo, "~> 1.7", only: [:dev, :test], runtime: false}
    ]
  end
end
""",
        ".tool-versions": "elixir 1.16.2-otp-26\nerlang 26.2.4\n",
        ".formatter.exs": "",
        "fly.toml": "",
    },
    """
    language: Elixir 1.16.2
    language: Elixir ~> 1.16
    language: Erlang 26.2.4
    framework: Phoenix 1.7.12
    framework: Phoenix LiveView 0.20.14
    framework: Ecto 3.11
    framework: Oban 2.17
    framework: Credo 1.7
    package manager: Mix
    install: mix deps.get
    build: mix compile
    test: mix test
    lint: mix credo
    format: mix format
    run: mix phx.server
    migrate: mix ecto.migrate
    deploy: fly deploy
    deployed on: Fly.io
    default branch: main
    remote: github.com/acme/chat
    """,
)

DOTNET_API = Repository(
    {
        **git("https://acme@dev.azure.com/acme/stock/_git/stock"),
        "Stock.sln": "Microsoft Visual Studio Solution File, Format Version 12.00\n",
        "global.json": '{ "sdk": { "version": "8.0.204" } }\n',
        "Api/Stock.Api.csproj": """<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <TargetFramework>net8.0</TargetFramework>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Microsoft.EntityFrameworkCore" Version="8.0.4" />
  </ItemGroup>
</Project>
""",
        "Tests/Stock.Tests.csproj": """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Microsoft.NET.Test.Sdk" Version="17.9.0" />
    <PackageReference Include="xunit" Version="2.8.0" />
  </ItemGroup>
</Project>
""",
        "azure-pipelines.yml": "",
    },
    """
    language: .NET SDK 8.0.204
    language: C# (.NET 8.0)
    framework: ASP.NET Core
    framework: Entity Framework Core 8.0.4
    framework: xUnit 2.8.0
    package manager: NuGet
    install: dotnet restore
    add a package: dotnet add package NAME
    build: dotnet build
    test: dotnet test
    run: dotnet run --project Api
    default branch: main
    remote: dev.azure.com/acme/stock/_git/stock
    CI: Azure Pipelines
    """,
)

POETRY_LIBRARY = Repository(
    {
        ".git/config": "[core]\n\tbare = false\n",
        ".git/refs/heads/main": "",
        "pyproject.toml": """[tool.poetry]
name = "wavelets"
version = "1.2.0"

[tool.poetry.dependencies]
python = "^3.10"
numpy = "^1.26"

[tool.poetry.group.dev.dependencies]
pytest = "^8.1"
black = "^24.3"
pyright = "^1.1"
""",
        "poetry.lock": "",
        "tox.ini": "",
        "justfile": """default:
    @just --list

# run all tests
test *args:
    poetry run pytest {{args}}

docs-build:
    poetry run sphinx-build docs out

publish: test
    poetry publish --build
""",
    },
    """
    language: Python ^3.10
    framework: NumPy 1.26
    framework: pytest 8.1
    framework: Black 24.3
    framework: Pyright 1.1
    package manager: Poetry
    install: poetry install
    add a package: poetry add NAME
    test: just test
    format: poetry run black .
    check types: poetry run pyright
    release: just publish
    default branch: main
    """,
)

TWO_FOLDERS = Repository(
    {
        **git("https://github.com/acme/crm.git"),
        "frontend/package.json": """{
  "scripts": { "dev": "vite", "build": "tsc && vite build", "test": "vitest" },
  "dependencies": { "vue": "^3.4.27" },
  "devDependencies": { "typescript": "~5.4.0", "vite": "^5.2.11", "vitest": "^1.6.0" }
}
""",
        "frontend/yarn.lock": "",
        "backend/requirements.txt": "fastapi==0.111.0\nuvicorn[standard]==0.29.0\n# tests\npytest==8.2.0\n",
        "docker-compose.yml": "services:\n  api:\n    build: ./backend\n  db:\n    image: postgres:16\n",
        "render.yaml": "",
    },
    """
    language: Python (backend)
    language: TypeScript 5.4.0 (frontend)
    framework: FastAPI 0.111.0 (backend)
    framework: Uvicorn 0.29.0 (backend)
    framework: pytest 8.2.0 (backend)
    framework: Vue 3.4.27 (frontend)
    framework: Vite 5.2.11 (frontend)
    framework: Vitest 1.6.0 (frontend)
    service: PostgreSQL 16
    package manager: pip (backend)
    package manager: Yarn (frontend)
    install: cd backend && pip install -r requirements.txt
    install: cd frontend && yarn install
    add a package: cd frontend && yarn add NAME
    build: cd frontend && yarn build
    test: cd backend && pytest
    test: cd frontend && yarn test
    run: cd frontend && yarn dev
    run: docker compose up
    deployed on: Render
    default branch: main
    remote: github.com/acme/crm
    """,
)

REPOSITORIES = {
    "Next.js, pnpm": NEXT_SHOP,
    "Django, uv": DJANGO_API,
    "Axum, Cargo": AXUM_SERVICE,
    "Gin, Go modules": GIN_API,
    "Rails, Bundler": RAILS_APP,
    "Spring Boot, Maven": SPRING_MAVEN,
    "Ktor, Gradle": KOTLIN_GRADLE,
    "Laravel, Composer": LARAVEL_APP,
    "Phoenix, Mix": PHOENIX_APP,
    "ASP.NET Core, NuGet": DOTNET_API,
    "library, Poetry": POETRY_LIBRARY,
    "Vue and FastAPI, two folders": TWO_FOLDERS,
}
