"""The acts that a rule is about, and the calls that are such acts, by command, file and kind of change alone."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from kiro_learn.learning.acts.cues import act_of, cues_in, cues_of
from kiro_learn.learning.acts.index import ActIndex
from kiro_learn.model.record import KnowledgeType, MemoryRecord, Origin, RecordDetails
from kiro_learn.testing.daemon import a_record

PROJECT = "/home/ada/shop"


def a_rule(text: str, number: int = 1, **fields: object) -> MemoryRecord:
    rule = attrs.evolve(
        a_record(number), title=text, summary=text, knowledge_type=KnowledgeType.CONSTRAINT, origin=Origin.USER
    )
    return attrs.evolve(rule, **fields)  # type: ignore[arg-type]  # whatever fields a test names


def is_about(rule: MemoryRecord | str, tool: str, **given: object) -> bool:
    index = ActIndex()
    index.put(a_rule(rule) if isinstance(rule, str) else rule)
    return bool(index.about(act_of(tool, given, PROJECT)))


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Never commit without running the tests", "cd web && git add -A && git commit -m 'Add it'"),
        ("Run the tests before you commit", "git commit -am x"),
        ("PR titles begin with the number of the ticket", 'gh pr create --title "Add it" --body ""'),
        ("Never push to main", "git -C /home/ada/shop push origin main"),
        ("use bun, never npm", "FOO=1 npm --prefix web run build | tee log"),
        ("Never push to main", "bash -lc 'cd web && git push origin main'"),
        ("Never push to main", 'sh -c "git push origin main" && echo done'),
        ("Never push to main", "if test -d web; then git push origin main; fi"),
        ("use bun, never npm", "for each in web api; do npm install; done"),
        ("always use pnpm instead of npm install", "npm install left-pad"),
        ("Never run `git push --force`", "git push --force origin topic"),
        ("Always run `pytest -x`", "uv run pytest tests"),
        ("Migrations must be reversible", "python manage.py makemigrations shop"),
        ("never deploy on Fridays", "./scripts/deploy.sh staging"),
        ("Ask me before adding a dependency", "uv add httpx"),
        ("dont forget to switch to a fresh branch", "git checkout -b topic"),
        ("Always use pnpm, never npm.", "npm install left-pad"),
        ("Use uv, never pip.", "python -m pip install httpx"),
        ("Use uv, never pip.", "pip3 install httpx"),
        ("Use bun, not npm or yarn.", "yarn add left-pad"),
        ("Never delete branches", "git branch -D topic"),
        ("Never delete my branches", "git push origin --delete topic"),
        ("Never use sudo", "cd web && sudo apt install jq"),
        ("No force pushes.", "git push -f origin topic"),
    ],
)
def test_a_rule_is_told_as_its_command_is_about_to_run(rule: str, command: str) -> None:
    assert is_about(rule, "Bash", command=command)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Never commit without running the tests", "pytest -q"),
        ("Never commit without running the tests", "git log --oneline | grep 'commit'"),
        ("Never commit without running the tests", "echo 'git commit'"),
        ("Never commit without running the tests", "bash -l 'git commit'"),
        ("Never commit without running the tests", "bash git commit"),
        ("use bun, never npm", "bun install"),
        ("Never run `git push --force`", "git push origin topic"),
        ("Always run `pytest -x`", "pytest -x tests"),
        ("We prefer small functions", "git commit -m x"),
        ("never use the client/server abstraction", "ls client/server"),
        ("we use go for services", "go test ./..."),
        ("make sure to always ask me", "make test"),
        ("Always use pnpm, never npm.", "pnpm install left-pad"),
        ("Never delete branches", "git branch feature-add"),
        ("Never delete branches", "git push origin topic"),
        ("Never use sudo", "apt install jq"),
        ("Never force push", "git push origin topic"),
    ],
)
def test_it_is_silent_for_every_other_command(rule: str, command: str) -> None:
    assert not is_about(rule, "Bash", command=command)


@pytest.mark.parametrize(
    ("rule", "file", "is_told"),
    [
        ("never edit src/gen/ by hand", "src/gen/api.ts", True),
        ("never edit src/gen/ by hand", "src/api.ts", False),
        ("Never touch package.json without asking", "web/package.json", True),
        ("Never touch package.json without asking", "web/package-lock.json", False),
        ("Always name the unit in *.sql files", "db/orders.sql", True),
        ("Always name the unit in *.sql files", "db/orders.py", False),
        ("Tests must not sleep", "tests/unit/test_cart.py", True),
        ("Tests must not sleep", "shop/cart.py", False),
        ("Migrations must be reversible", "db/migrations/0007_orders.sql", True),
    ],
)
def test_a_rule_about_files_is_told_as_one_is_about_to_change(rule: str, file: str, is_told: bool) -> None:
    assert is_about(rule, "Edit", file_path=f"{PROJECT}/{file}", old_string="a", new_string="b") is is_told
    patch = f"*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch"
    assert is_about(rule, "apply_patch", command=patch) is is_told
    assert not is_about(rule, "Read", file_path=f"{PROJECT}/{file}")


def a_trap(failed: str, worked: str) -> MemoryRecord:
    summary = f"`{failed}` fails in this project: unknown option. What works instead: `{worked}`."
    return attrs.evolve(
        a_record(1), title="a trap", summary=summary, knowledge_type=KnowledgeType.HEURISTIC, origin=Origin.TOOL
    )


def test_a_trap_is_told_of_the_call_that_fails_and_of_no_other() -> None:
    trap = a_trap("rtk bun run test --filter api", "rtk bun test --cwd api")
    assert is_about(trap, "Bash", command="bun run test --filter api")
    assert not is_about(trap, "Bash", command="bun test --cwd api")
    added = a_trap("pip install httpx", "pip install --break-system-packages httpx")
    assert is_about(added, "Bash", command="pip install attrs")
    assert not is_about(added, "Bash", command="pip install --break-system-packages attrs")


def test_only_rules_and_traps_are_about_acts() -> None:
    assert not cues_of(a_rule("Never push to main", knowledge_type=None))
    assert not cues_of(a_rule("Never push to main", knowledge_type=KnowledgeType.DECISION))
    assert cues_of(a_rule("Pushing to main was turned down", knowledge_type=KnowledgeType.REJECTED))
    assert not cues_in("From now on answer in German")


def test_what_a_turn_answered_under_its_rule_is_not_what_the_rule_is_about() -> None:
    summary = "Asked: Never push to main\nI ran `npm install` and edited src/gen/api.ts."
    assert {cue.key for cue in cues_of(a_rule("Never push to main", summary=summary))} == {"kind push"}


def test_hard_rules_come_first_then_a_persons_words_then_the_newest() -> None:
    index = ActIndex()
    texts = ("Commit small things", "Commit with a body", "Never commit secrets")
    rules = [a_rule(text, number) for number, text in enumerate(texts, start=1)]
    rules[1] = attrs.evolve(rules[1], created_at=rules[0].created_at + timedelta(days=1))
    rules[2] = attrs.evolve(rules[2], origin=Origin.API, details=RecordDetails(severity="hard"))
    for rule in rules:
        index.put(rule)
    act = act_of("Bash", {"command": "git commit"}, PROJECT)
    assert [each.title for each in index.about(act)] == [texts[2], texts[1], texts[0]]
    for rule in rules:
        index.drop(rule.record_id)
    assert index.about(act) == []


def test_any_input_of_a_tool_is_an_act_or_none() -> None:
    for given in (None, 7, "git commit", ["git", "commit"], {"command": ["git", "commit"]}, {"command": 'echo "'}):
        act_of("Bash", given, PROJECT)
        act_of("Edit", given, "")
    assert is_about("Never commit secrets", "shell", command=["git", "commit"])
    assert is_about("Never commit secrets", "shell", command=["bash", "-lc", "git commit -am x"])
    assert is_about("PR titles begin with a verb", "mcp__github__create_pull_request", title="x")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Bitte nie direkt auf main pushen", "kind push"),
        ("ne pousse jamais sur main", "kind push"),
        ("Migrationen bitte nie von Hand \u00e4ndern", "kind migration"),
        ("nie auf main committen", "kind commit"),
        ("nur dienstags deployen", "kind deploy"),
        ("keine neuen Abh\u00e4ngigkeiten ohne R\u00fcckfrage", "kind dependency"),
        ("las migraciones no se editan a mano", "kind migration"),
    ],
)
def test_an_act_is_named_in_other_languages(said: str, kind: str) -> None:
    assert kind in {cue.key for cue in cues_in(said)}


def test_a_rule_on_one_environment_is_not_about_another() -> None:
    rule = attrs.evolve(
        a_record(1, "Never run terraform apply on prod without a plan"), knowledge_type=KnowledgeType.CONSTRAINT
    )
    cues = cues_of(rule)
    said = {
        place: act_of("Bash", {"command": f"terraform -chdir=envs/{place} apply"}, "") for place in ("prod", "staging")
    }
    assert any(cue.fits(said["prod"]) for cue in cues)
    assert not any(cue.fits(said["staging"]) for cue in cues)
    assert any(cue.fits(act_of("Bash", {"command": "terraform apply"}, "")) for cue in cues)


@pytest.mark.parametrize("command", ["flutter pub add drift", "gem install rails", "composer require monolog/monolog"])
def test_a_dependency_is_added_by_many_tools(command: str) -> None:
    cues = cues_in("Always ask before adding a dependency")
    assert any(cue.fits(act_of("Bash", {"command": command}, "")) for cue in cues)
