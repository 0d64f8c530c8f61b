"""The words of acts: programs, what wraps them, and the kinds of change that rules speak of."""

from __future__ import annotations

import re

import attrs

from kiro_learn.model.wording import word_set

PROGRAMS = word_set("""
    git gh glab npm npx yarn pnpm bun pip pip3 uv poetry pipenv pytest tox ruff black mypy flake8 eslint prettier tsc
    cargo rustc go make docker docker-compose podman kubectl helm terraform ansible aws gcloud az fly vercel wrangler
    netlify heroku alembic prisma rails rake bundle gem mvn gradle gradlew dotnet composer php artisan jest vitest
    playwright cypress psql mysql sqlite3 redis-cli curl wget ssh scp rsync brew apt apt-get sed awk find grep rg rm
    mv cp chmod sudo node deno python python3 ruby perl turbo nx lerna pre-commit husky twine hatch conda nix just
    task bazel cmake ctest swift xcodebuild flutter dart mix sbt lein
""")
WORDS_OF_ENGLISH = word_set("""
    az black bundle curl dart deno find fly go hatch husky just make mix node nix nx php prettier rails rake ruby rust
    sed swift task turbo
""")
"""Programs whose names are also common words or names of technologies. They count only in code or where denied."""

SUBCOMMANDS = {
    "git": word_set("""
        add am apply bisect branch checkout cherry-pick clean clone commit diff fetch log merge mv pull push rebase
        reset restore revert rm show stash switch tag worktree
    """),
    "npm": word_set("add audit ci exec i install publish run test uninstall update"),
    "pnpm": word_set("add dlx exec i install publish run test update"),
    "yarn": word_set("add dlx install publish run test"),
    "bun": word_set("add install run test x"),
    "pip": word_set("freeze install uninstall"),
    "uv": word_set("add lock pip run sync"),
    "cargo": word_set("add build clippy fmt install publish run test"),
    "go": word_set("build fmt generate get mod run test vet"),
    "docker": word_set("build compose exec pull push run"),
    "terraform": word_set("apply destroy init plan"),
    "kubectl": word_set("apply delete exec get rollout"),
}
"""Subcommands that a rule may name without marking them as code."""

WRAPPERS = word_set("sudo time nohup exec env command npx bunx pnpx uvx rtk xargs ! if then elif else while until do")
"""Words that run the command after them. The two words of a launcher do so too."""
SHELLS = word_set("sh bash zsh dash fish")
"""Programs that run the line after an option such as -lc."""
LAUNCHERS = frozenset(
    tuple(each.split())
    for each in (
        *("uv run", "poetry run", "pipenv run", "hatch run", "pdm run", "bundle exec", "pnpm exec", "pnpm dlx"),
        *("yarn dlx", "npm exec", "python -m", "python3 -m"),
    )
)
WITH_A_VALUE = word_set("-n --namespace --context -C -c --git-dir --work-tree --prefix --cwd --directory -R --repo")
"""Options before a subcommand that take the next word as their value."""

FOLDERS = word_set("src lib app apps packages docs test tests scripts tools internal cmd pkg server client web")
"""First folders of a path: one of these followed by a slash begins a path."""


@attrs.frozen
class ChangeKind:
    """A kind of change: how a rule names it, the commands that make it, and the files that show it."""

    name: str
    said: str
    done: str = "(?!)"
    filed: str = "(?!)"

    @property
    def key(self) -> str:
        """The key that the cue of a rule and the act of a call have in common."""
        return f"kind {self.name}"


KINDS = (
    ChangeKind(
        "pull request",
        r"\bPRs?\b|\b(?:pull|merge)[- ]requests?\b",
        r"gh pr (?:create|edit|ready)\b|glab mr create\b",
    ),
    ChangeKind("commit", r"\bcommit(?:s|ted|ting|te|ten|test)?\b|\beincheck\w{0,4}", r"git commit\b"),
    ChangeKind(
        "force push",
        r"\bforce[- ]?push(?:es|ed|ing)?\b|\bpush(?:es|ed|ing)? (?:\S+ ){0,2}(?:by|with) (?:-{0,2})force\b",
        r"git push (?:.* )?(?:--force|-[a-z]{0,4}f\b|\+\S)",
    ),
    ChangeKind(
        "branch deletion",
        r"\b(?:delet|remov)(?:e|es|ed|ing) (?:\w+ ){0,2}branch(?:es)?\b",
        r"git (?:branch (?:.* )?(?:-[a-z]{0,4}[dD]\b|--delete\b)|push (?:.* )?(?:--delete\b|-d\b|:\S))",
    ),
    ChangeKind("push", r"\b(?:force[- ])?push(?:es|ed|ing|en|e|t)?\b|\bgepusht\b|\bpousse[rz]?\b", r"git push\b"),
    ChangeKind("merge", r"\bmerg(?:e|es|ed|ing|en|t)\b|\bgemergt\b", r"git merge\b|(?:gh pr|glab mr) merge\b"),
    ChangeKind("rebase", r"\brebas(?:e|es|ed|ing)\b", r"git (?:rebase\b|pull .*--rebase)"),
    ChangeKind(
        "branch",
        r"\b(?:new|fresh|feature|separate) branch(?:es)?\b|\bbranch(?:es)? (?:names?|off|from)\b"
        r"|\b(?:create|name|cut|open) (?:a |the )?branch",
        r"git (?:checkout .*-[bB]\b|switch .*-[cC]\b|branch [^-\s]|worktree add\b)",
    ),
    ChangeKind(
        "migration",
        r"\bmigration(?:s|en)?\b|\bmigraci(?:\u00f3n|ones)\b",
        r"alembic\b|(?:.* )?(?:make)?migrat(?:e|ions?)\b|(?:.* )?db:migrate\b",
        r"(?:^|[/_.-])migrations?(?:[/_.-]|$)|(?:^|/)alembic/versions/",
    ),
    ChangeKind(
        "test run",
        r"\brun(?:s|ning)? (?:\S+ ){0,2}(?:tests|test suite|specs)\b|\btest suite\b",
        r"(?:pytest|tox|jest|vitest|ctest)\b|(?:npm|pnpm|yarn|bun|go|cargo|make|mix|dotnet|swift)(?: run)? test\b",
    ),
    ChangeKind(
        "test",
        r"\b(?:unit |integration )?tests?\b|\bspecs?\b|\bmock(?:s|ed|ing)?\b|\bfixtures?\b",
        filed=r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.[a-z]+$",
    ),
    ChangeKind(
        "release",
        r"\breleas(?:e|es|ed|ing)\b|\bpublish(?:es|ed|ing)?\b|\bversion bumps?\b|\bbump(?:ing)? (?:the )?version\b",
        r"git tag [^-\s]|gh release create\b|(?:npm|pnpm|yarn|cargo|poetry|uv|hatch|flit) publish\b|twine upload\b"
        r"|npm version\b",
        r"(?:^|/)CHANGELOG(?:\.\w+)?$",
    ),
    ChangeKind(
        "deploy",
        r"\bdeploy(?:s|ed|ing|ments?|en|t)?\b|\bdesplieg\w{1,3}\b|\bd\u00e9plo(?:y\w{1,4}|ie\w?)\b",
        r".*deploy|(?:kubectl|terraform) apply\b|helm (?:install|upgrade)\b|vercel\b|docker push\b",
    ),
    ChangeKind(
        "dependency",
        r"\bdependenc(?:y|ies)\b|\babh\u00e4ngigkeit(?:en)?\b|\bdependencias?\b|\bd\u00e9pendances?\b"
        r"|\binstall(?:s|ing)? (?:\S+ ){0,2}(?:packages?|librar(?:y|ies))\b"
        r"|\b(?:new|add(?:ing)?) (?:packages?|librar(?:y|ies))\b",
        r"(?:npm|pnpm|yarn|bun) (?:i|install|add) [^-\s]|(?:uv )?pip3? install\b|(?:uv|poetry|cargo|pdm) add\b"
        r"|go get\b|(?:flutter|dart) pub add\b|(?:gem|expo) install\b|bundle add\b|composer require\b|dotnet add\b",
        r"(?:^|/)(?:package\.json|pyproject\.toml|requirements[^/]*\.txt|Cargo\.toml|go\.mod|Gemfile|pubspec\.yaml|Podfile"
        r"|composer\.json|pom\.xml)$",
    ),
)

SAID = tuple((kind.key, re.compile(kind.said, re.IGNORECASE)) for kind in KINDS)
DONE = tuple((kind.key, re.compile(kind.done)) for kind in KINDS)
FILED = tuple((kind.key, re.compile(kind.filed, re.IGNORECASE)) for kind in KINDS)
