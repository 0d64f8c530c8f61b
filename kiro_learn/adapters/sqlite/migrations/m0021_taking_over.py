"""Take over what the first kiro-learn kept where we would not look: other namespaces, and files beside the database."""

from __future__ import annotations

import apsw

from kiro_learn.adapters.sqlite.migrations.first_buffers import take_over
from kiro_learn.adapters.sqlite.migrations.migration import Migration, MigrationContext
from kiro_learn.adapters.sqlite.migrations.moving import move_to_namespaces_in_use


def _take_over(connection: apsw.Connection, context: MigrationContext) -> None:
    moved = move_to_namespaces_in_use(connection, context)
    if context.first_buffers is not None:
        take_over(connection, context.first_buffers, moved)


MIGRATION = Migration(21, "taking_over", _take_over)
