"""One row that cannot be read, and its name."""

from __future__ import annotations

from kiro_learn.errors import InvalidRequest, StorageCorrupt


class DamagedRow(StorageCorrupt):
    """One row cannot be read; others can."""

    def __init__(self, row_id: str, problem: str) -> None:
        super().__init__(f"the row of {row_id} cannot be read: {problem}")
        self.row_id = row_id


class damage_named:  # noqa: N801  # reads as a function; a generator would cost hundreds of rows a prompt too much
    """Name the row and the kind of the error only: the rest of its message might quote stored text."""

    __slots__ = ("_row_id",)

    def __init__(self, row_id: object) -> None:
        self._row_id = row_id

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, ValueError | KeyError | TypeError | InvalidRequest):
            row_id = self._row_id
            name = row_id.decode("utf-8", "backslashreplace") if isinstance(row_id, bytes) else str(row_id)
            raise DamagedRow(name, type(error).__name__) from error
