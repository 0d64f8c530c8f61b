"""The power is cut while agents report: acknowledged events are there, and the database is sound."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest
import trio

from kiro_learn.adapters.sqlite.connections import open_writer
from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.opening import Upgrade, open_sqlite_storage
from kiro_learn.config import StorageConfig
from kiro_learn.model.backup import UpgradeProgress
from kiro_learn.testing.daemon import an_event, simulated_daemon
from tests.integration.storage.volatile_disk import VolatileDisk, put_back, volatile_disk
from tests.unit.adapters.sqlite.first_database import EVENTS, fill
from tests.unit.storage.builders import DAWN

pytestmark = pytest.mark.one_python

AGENTS = 6
EVENTS_EACH = 200
EVENTS_BETWEEN_CUTS = 25
TEXT = "The cache drops its entries after a restart, because the key is salted per process. " * 40
Cut = tuple[frozenset[str], dict[str, bytes]]
"""The events that were acknowledged when the power was cut, and the files that are left on the disk."""


async def replay(path: Path, disk: VolatileDisk) -> list[Cut]:
    """Report events from several agents at once, and note at many moments what a power cut would leave."""
    dice = Random(20261122)
    acknowledged: set[str] = set()
    cuts: list[Cut] = []
    storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN)

    async def report(agent: int) -> None:
        for number in range(EVENTS_EACH):
            event = an_event(agent * 10_000 + number, text=f"{number} {TEXT}", session=f"s{agent}")
            await services.capture.take(event)
            acknowledged.add(event.event_id)
            if len(acknowledged) % EVENTS_BETWEEN_CUTS == 0:
                known = frozenset(acknowledged)
                cuts.extend((known, disk.left_without_power(chance)) for chance in (None, dice))

    async with simulated_daemon(storage=storage) as services, trio.open_nursery() as agents:
        for agent in range(AGENTS):
            agents.start_soon(report, agent)
    await storage.close()
    return cuts


def lost_in(cut: Cut, path: Path, into: Path) -> frozenset[str]:
    """The acknowledged events that are lost; all of them if there is no database any more."""
    acknowledged, left = cut
    database = apsw.Connection(str(put_back(left, path, into)))
    try:
        assert database.execute("PRAGMA integrity_check").get == "ok"
        return acknowledged - {event_id for (event_id,) in database.execute("SELECT event_id FROM events")}
    except apsw.Error:
        return acknowledged
    finally:
        database.close()


def losses(path: Path, *, least_syncs: int) -> list[int]:
    """The count of acknowledged events that each cut lost. The database must be synced at least so often."""
    with volatile_disk(path.parent) as disk:
        cuts = trio.run(replay, path, disk)
    assert disk.synced[str(path)] >= least_syncs, "the log was hardly folded in: the replay would prove little"
    assert len(cuts) == 2 * AGENTS * EVENTS_EACH // EVENTS_BETWEEN_CUTS
    return [len(lost_in(cut, path, path.parent / "left")) for cut in cuts]


def test_no_acknowledged_event_is_lost_with_the_power(tmp_path: Path) -> None:
    assert sum(losses(tmp_path / "kiro-learn.db", least_syncs=5)) == 0


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_with_a_weaker_setting_the_same_cuts_lose_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str
) -> None:
    """This shows that the test above can fail."""

    def open_weaker(*given: Any, **more: Any) -> apsw.Connection:
        writer = open_writer(*given, **more)
        writer.pragma("synchronous", synchronous)
        return writer

    monkeypatch.setattr("kiro_learn.adapters.sqlite.opening.open_writer", open_weaker)
    found = losses(tmp_path / "kiro-learn.db", least_syncs=0)
    assert sum(loss > 0 for loss in found) > len(found) / 2


def test_an_upgrade_that_loses_its_power_is_done_or_was_never_begun(tmp_path: Path) -> None:
    """At any moment. If the upgrade is done, the copy of the old database is on the disk."""
    path, backups = tmp_path / "kiro-learn.db", tmp_path / "backups"
    backups.mkdir()
    fill(path)
    dice = Random(20261122)
    cuts: list[dict[str, bytes]] = []

    async def upgrade() -> None:
        means = Upgrade(backups=backups, report=cut)
        storage = await open_sqlite_storage(path, StorageConfig(), utc_now=lambda: DAWN, upgrade=means)
        await storage.close()

    def cut(_progress: UpgradeProgress | None = None) -> None:
        cuts.extend(disk.left_without_power(chance) for chance in (None, dice, dice))

    with volatile_disk(path.parent) as disk:
        disk.before_sync = cut
        trio.run(upgrade)
        cut()
    versions = {version_left(left, path, tmp_path / "left") for left in cuts}
    assert versions == {5, MIGRATIONS[-1].version}


def version_left(left: dict[str, bytes], path: Path, into: Path) -> int:
    database = apsw.Connection(str(put_back(left, path, into)))
    assert database.execute("PRAGMA integrity_check").get == "ok"
    version: int = database.execute("SELECT max(version) FROM _migrations").get
    assert database.execute("SELECT count(*) FROM events").get == len(EVENTS)
    database.close()
    if version > 5:
        (copy,) = (Path(name) for name in left if name.endswith(".unfinished"))
        assert version_left(left, copy, into) == 5
    return version
