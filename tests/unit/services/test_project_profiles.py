"""A session is told its project's profile, read from files: in the brief, and one slot if a prompt asks for it."""

from __future__ import annotations

from typing import Any

import attrs
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.errors import StorageBusy
from kiro_learn.model.event import EventKind, JsonBody
from kiro_learn.model.profile import Slot
from kiro_learn.ports.storage.answers import EventPage
from kiro_learn.retrieval.rendering.brief import SECTION_BYTES
from kiro_learn.services.project_files import FRESH_SECONDS
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import FixedFiles, an_event
from kiro_learn.testing.storage import InMemoryStorage
from tests.unit.learning.profile.repositories import NEXT_SHOP, REPOSITORIES, TWO_FOLDERS
from tests.unit.services.in_daemon import in_daemon
from tests.unit.services.test_session_context import FOLDER, namespace, observe, start


def shop(files: dict[str, str] | None = None) -> FixedFiles:
    return FixedFiles(texts={FOLDER: NEXT_SHOP.files if files is None else files})


async def brief(services: Services, tokens: int | None = None) -> str:
    return (await services.session_context.context(await namespace(services), folder=FOLDER, tokens=tokens)).text


def section(text: str) -> str:
    return text.partition("### This project\n")[2].partition("\n###")[0]


async def run(services: Services, number: int, command: str) -> None:
    event = an_event(
        number,
        kind=EventKind.TOOL_USE,
        body=JsonBody({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {"exit_code": 0}}),
        namespace=await namespace(services),
    )
    await services.capture.take(event)


def test_a_brief_has_the_profile_under_its_own_heading_within_its_bytes() -> None:
    async def scenario(services: Services) -> None:
        for number in range(80):
            await observe(services, f"The pool {number} holds twenty", "because of the proxy " * 9)
        text = await start(services)
        assert "`pnpm test`" in section(text)
        assert "default branch: main" in section(text)
        assert "### Last worked on" in text
        assert len(text.encode()) <= RecallConfig().brief_bytes

    in_daemon(scenario, project_files=shop())


def test_every_profile_is_told_in_few_bytes() -> None:
    for repository in REPOSITORIES.values():

        async def scenario(services: Services) -> None:
            text = await brief(services)
            assert 60 < len(text.encode()) <= SECTION_BYTES + len("## Prior observations from kiro-learn\n")

        in_daemon(scenario, project_files=shop(repository.files))


def test_a_project_without_manifests_is_told_what_it_was_told_before() -> None:
    async def scenario(services: Services) -> None:
        assert await brief(services) == ""
        await run(services, 1, "npm test")
        await run(services, 2, "npm test")
        await observe(services, "The pool holds twenty")
        assert "This project" not in await brief(services)

    git_alone = {path: text for path, text in NEXT_SHOP.files.items() if path.startswith(".git/")}
    in_daemon(scenario, project_files=shop(git_alone))


def test_it_is_not_told_where_the_settings_say_so() -> None:
    async def scenario(services: Services) -> None:
        assert await brief(services) == ""
        profile = await services.profiles.of(await namespace(services), FOLDER)
        assert profile.values(Slot.TEST) == ("pnpm test",)

    in_daemon(scenario, project_files=shop(), config=Config(recall=RecallConfig(profile=False)))


def test_a_small_brief_has_a_small_part_of_it_or_none() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        assert 0 < len(section(await brief(services, tokens=200)).encode()) <= 200
        assert await brief(services, tokens=0) == ""

    in_daemon(scenario, project_files=shop(TWO_FOLDERS.files))


def test_a_file_that_changed_is_told_as_it_is_now() -> None:
    files = shop()

    async def scenario(services: Services) -> None:
        assert "pnpm 9.1.0" in await brief(services)
        package = NEXT_SHOP.files["package.json"].replace("pnpm@9.1.0", "yarn@4.2.2")
        files.texts[FOLDER] = {**NEXT_SHOP.files, "package.json": package}
        assert "Yarn 4.2.2" in await brief(services)
        assert "pnpm 9" not in await brief(services)

    in_daemon(scenario, project_files=files)


def test_commands_that_ran_are_counted_again_after_a_while() -> None:
    async def scenario(services: Services) -> None:
        project = await namespace(services)
        await run(services, 1, "fly deploy")
        assert (await services.profiles.of(project, FOLDER)).values(Slot.RELEASE) == ()
        await run(services, 2, "make release")
        await run(services, 3, "make release")
        assert (await services.profiles.of(project, FOLDER)).values(Slot.RELEASE) == ()
        await trio.sleep(FRESH_SECONDS)
        (fact,) = (await services.profiles.of(project, FOLDER)).of(Slot.RELEASE)
        assert fact.value == "make release"
        assert fact.runs is not None
        assert (fact.runs.succeeded, fact.runs.failed) == (2, 0)

    in_daemon(scenario, project_files=shop())


class WithoutEvents(InMemoryStorage):
    """A store that cannot list events."""

    async def list_events(self, **_asked: Any) -> EventPage:
        raise StorageBusy("busy")


def test_without_events_it_is_what_the_files_say() -> None:
    async def scenario(services: Services) -> None:
        assert "`pnpm test`" in await brief(services)

    in_daemon(scenario, project_files=shop(), storage=WithoutEvents())


@attrs.define
class SlowFiles(FixedFiles):
    """A file system that never answers."""

    async def manifests(self, *_asked: Any) -> dict[str, str]:
        await trio.sleep_forever()


def test_a_file_system_that_does_not_answer_costs_the_profile_alone() -> None:
    async def scenario(services: Services) -> None:
        await observe(services, "The pool holds twenty")
        began = trio.current_time()
        text = await start(services)
        assert "The pool holds twenty" in text
        assert trio.current_time() - began < 0.3

    in_daemon(scenario, project_files=SlowFiles())
