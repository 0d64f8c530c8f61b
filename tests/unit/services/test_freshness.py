"""A memory whose files are gone or changed is shown with a note; if the files are read too late, without one."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest
import trio

from kiro_learn.config import Config, RecallConfig
from kiro_learn.model.record import MemoryRecord
from kiro_learn.ports.home import ProjectFiles
from kiro_learn.retrieval.rendering.passages import ELLIPSIS
from kiro_learn.services.services import Services
from kiro_learn.testing.daemon import NAMESPACE, FixedFiles, a_record, an_event, simulated_daemon
from kiro_learn.testing.simulation import EPOCH, simulate

QUESTION = "why does the token cache expire early"
FOLDER = an_event(1).source.project_path
BEFORE, AFTER = EPOCH - timedelta(days=1), EPOCH + timedelta(days=1)


def citing(*files: str) -> MemoryRecord:
    record = a_record(1, "The pool", "why does the token cache expire early: the pool")
    return attrs.evolve(record, files_modified=files)


def heading(record: MemoryRecord, files: ProjectFiles, config: Config | None = None) -> str:
    """The line above ``record`` in the block."""

    async def scenario() -> str:
        async with simulated_daemon(project_files=files, config=config) as services:
            await services.remember.put(record)
            await trio.sleep(1)
            began = trio.current_time()
            _, retrieval = await services.prompt.take(an_event(9, text=QUESTION))
            assert trio.current_time() - began < 0.1
            assert retrieval.degraded == ()
            return retrieval.context.splitlines()[2]

    return simulate(scenario)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (citing("src/pool.py"), "(2026-01-05; src/pool.py changed since)"),
        (citing("old.py", "src/pool.py"), "(2026-01-05; old.py gone, src/pool.py changed since)"),
        (citing("old.py", "older.py", "oldest.py"), "(2026-01-05; old.py and 2 more gone)"),
        (citing("kept.py"), "(2026-01-05)"),
        (citing(), "(2026-01-05)"),
        (attrs.evolve(citing(), files_read=("src/pool.py",)), "(2026-01-05; src/pool.py changed since)"),
        (attrs.evolve(citing(), files_touched=("src/pool.py",)), "(2026-01-05; src/pool.py changed since)"),
        (citing("<b>\n# a"), "(2026-01-05; &lt;b> # a gone)"),
    ],
)
def test_the_heading_says_what_became_of_the_files(record: MemoryRecord, told: str) -> None:
    assert FOLDER is not None
    files = FixedFiles({FOLDER: {"src/pool.py": AFTER, "kept.py": BEFORE}})
    assert heading(record, files) == f"### The pool {told}"


def test_a_long_name_is_cut() -> None:
    assert FOLDER is not None
    line = heading(citing("deep/" * 30 + "pool.py", "b.py"), FixedFiles({FOLDER: {}}))
    assert line.endswith(f"{ELLIPSIS} and 1 more gone)")
    assert len(line) < 120


def test_without_the_folder_nothing_is_said() -> None:
    assert heading(citing("src/pool.py"), FixedFiles()) == "### The pool (2026-01-05)"


def test_a_file_system_that_does_not_answer_costs_the_note_and_five_milliseconds() -> None:
    files = FixedFiles(gate=trio.Event())

    async def scenario() -> float:
        async with simulated_daemon(project_files=files) as services:
            await services.remember.put(citing("src/pool.py"))
            await trio.sleep(1)
            began = trio.current_time()
            found = (await services.prompt.take(an_event(9, text=QUESTION)))[1]
            assert "(2026-01-05)\n" in found.context
            return trio.current_time() - began

    assert simulate(scenario) == pytest.approx(0.005)


def test_one_that_breaks_costs_the_note() -> None:
    class Broken:
        async def modified_ats(self, *_: object) -> dict[str, None]:
            raise ZeroDivisionError

    assert heading(citing("src/pool.py"), Broken()) == "### The pool (2026-01-05)"  # type: ignore[arg-type]  # on purpose


def test_the_documented_format_has_no_notes() -> None:
    assert FOLDER is not None
    config = Config(recall=RecallConfig(format="documented"))
    assert heading(citing("old.py"), FixedFiles({FOLDER: {}}), config) == "### The pool"


def test_all_memories_of_a_project_with_stale_files_are_listed_newest_first() -> None:
    assert FOLDER is not None
    folder = FOLDER

    async def scenario(services: Services) -> None:
        assert (await services.staleness.freshness.stale(NAMESPACE)).items == ()
        await services.capture.take(an_event(1))
        for number, files in ((1, ("old.py",)), (2, ("kept.py",)), (3, ("src/pool.py", "kept.py"))):
            await services.remember.put(attrs.evolve(a_record(number), files_modified=files))
        found = await services.staleness.freshness.stale(NAMESPACE)
        assert found.folder == folder
        assert [(each.record.title, each.changes.gone, each.changes.changed) for each in found.items] == [
            ("record 3", (), ("src/pool.py",)),
            ("record 1", ("old.py",), ()),
        ]

    async def run() -> None:
        files = FixedFiles({folder: {"src/pool.py": AFTER, "kept.py": BEFORE}})
        async with simulated_daemon(project_files=files) as services:
            await scenario(services)

    simulate(run)


def test_a_list_waits_five_seconds_for_the_file_system() -> None:
    async def scenario() -> None:
        async with simulated_daemon(project_files=FixedFiles(gate=trio.Event())) as services:
            await services.capture.take(an_event(1))
            await services.remember.put(citing("src/pool.py"))
            with pytest.raises(trio.TooSlowError):
                await services.staleness.freshness.stale(NAMESPACE)

    simulate(scenario)
