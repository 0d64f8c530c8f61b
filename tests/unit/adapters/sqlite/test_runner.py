from __future__ import annotations

from collections.abc import Sequence

import apsw
import pytest

from kiro_learn.adapters.sqlite.migrations import MIGRATIONS
from kiro_learn.adapters.sqlite.migrations.runner import Migration, migrate
from kiro_learn.errors import MigrationDriftError, SchemaTooNew
from tests.unit.storage.builders import DAWN

FIRST = Migration(1, "first", "CREATE TABLE one (x INTEGER) STRICT")
SECOND = Migration(2, "second", "CREATE TABLE two (x INTEGER) STRICT; INSERT INTO one VALUES (2)")
BROKEN = Migration(3, "broken", "CREATE TABLE three (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)")


@pytest.fixture
def database() -> apsw.Connection:
    return apsw.Connection(":memory:")


def run(database: apsw.Connection, *migrations: Migration) -> list[int]:
    return [migration.version for migration in migrate(database, migrations, utc_now=lambda: DAWN)]


def tables(database: apsw.Connection) -> set[str]:
    return {str(row[0]) for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def books(database: apsw.Connection) -> Sequence[tuple[object, ...]]:
    return database.execute("SELECT version, name, applied_at FROM _migrations ORDER BY version").fetchall()


def test_what_is_pending_is_applied_in_order_and_entered_in_the_books(database: apsw.Connection) -> None:
    assert run(database, FIRST) == [1]
    assert run(database, FIRST, SECOND) == [2]
    assert books(database) == [
        (1, "first", "2026-01-05T12:00:00.000000Z"),
        (2, "second", "2026-01-05T12:00:00.000000Z"),
    ]


def test_a_database_that_is_up_to_date_is_only_read(database: apsw.Connection) -> None:
    run(database, FIRST, SECOND)
    before = database.total_changes()
    assert run(database, FIRST, SECOND) == []
    assert database.total_changes() == before


def test_a_broken_migration_leaves_the_database_as_it_was_and_is_tried_again(database: apsw.Connection) -> None:
    run(database, FIRST)
    with pytest.raises(apsw.SQLError):
        run(database, FIRST, SECOND, BROKEN)
    assert tables(database) == {"_migrations", "one"}, "the steps before it are undone too"
    mended = Migration(3, "broken", "CREATE TABLE three (x INTEGER) STRICT")
    assert run(database, FIRST, SECOND, mended) == [2, 3]


def test_a_renamed_migration_is_refused_before_anything_is_touched(database: apsw.Connection) -> None:
    run(database, FIRST)
    renamed = Migration(1, "renamed", FIRST.change)
    with pytest.raises(MigrationDriftError, match=r"'first'.*'renamed'"):
        run(database, renamed, SECOND)
    assert tables(database) == {"_migrations", "one"}


def test_a_database_of_a_newer_version_is_refused(database: apsw.Connection) -> None:
    run(database, FIRST, SECOND)
    with pytest.raises(SchemaTooNew, match="migration 2, and this version knows only 1"):
        run(database, FIRST)


def test_a_name_with_its_number_is_the_same_name(database: apsw.Connection) -> None:
    run(database, FIRST)
    database.execute("UPDATE _migrations SET name = '0001_first'")
    assert run(database, FIRST, SECOND) == [2]


def test_the_history_counts_up_from_one() -> None:
    versions = [migration.version for migration in MIGRATIONS]
    assert versions == sorted(set(versions))
    assert versions[0] == 1


def test_the_first_five_bear_the_names_that_the_first_kiro_learn_gave_them() -> None:
    assert [migration.name for migration in MIGRATIONS[:5]] == [
        "init",
        "xml_extraction_fields",
        "project_path",
        "session_summary_type",
        "memory_record_embedding",
    ]
