"""Where a project is built and runs: CI, containers, and the services that it is deployed to.

Of YAML, only the few lines that are needed are read: no alias, no anchor, no tag means anything here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kiro_learn.learning.profile.commands import slot_of_command
from kiro_learn.learning.profile.dependencies import IMAGES
from kiro_learn.learning.profile.texts import FileText, Folder, named, version
from kiro_learn.model.profile import ProfileFact, Slot

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
    """What the files of platforms, containers and CI say; the commands of CI stand last, for slots that are empty."""
    yield from _platforms(folder)
    yield from _services(folder)
    if file := folder.file("Dockerfile"):
        yield from _images(file)
    yield from _systems(folder)


def commands_of_ci(folder: Folder) -> Iterator[ProfileFact]:
    """The commands of CI that have a slot."""
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
    if built := file.line_of(r"^\s+build:"):  # else it starts what the project needs, and not the project
        yield from file.facts(Slot.RUN, "docker compose up", built)


def _images(file: FileText) -> Iterator[ProfileFact]:
    """What the first stage is built on that names an image; a stage may be built on another one, too."""
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
