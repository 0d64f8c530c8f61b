"""One step of the schema's history."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import attrs


@attrs.frozen
class Migration:
    """What turns the schema before ``version`` into ``version``. Once released, it is never edited."""

    version: int
    name: str
    change: str | Callable[[apsw.Connection], None]
    """SQL, or a function for what SQL alone cannot say; it runs inside the migration's transaction."""

    def apply(self, connection: apsw.Connection) -> None:
        if isinstance(self.change, str):
            connection.execute(self.change)
        else:
            self.change(connection)
