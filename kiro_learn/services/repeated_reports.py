"""Drops the second report of one step, and keeps that of an agent that does the same step twice."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence

import attrs

from kiro_learn.model.event import TextBody
from kiro_learn.model.ids import EventId
from kiro_learn.wire.hooks import HookReport

WINDOW_MS = 5_000
"""An agent runs the hooks of one event within their time limit; a person or a model takes longer to repeat a step."""
MOST_REPORTS = 2_000


@attrs.frozen
class _Seen:
    event_id: EventId
    at_ms: int


class RepeatedReports:
    """The reports of the last seconds, to recognise one that comes twice.

    An agent runs a hook twice where we are installed twice: Kiro CLI V3 reads the hooks of its agents' files and those
    beside them, Cursor reads its own and Claude Code's, and any of them the user's and the project's. Each run has an
    event id of its own, so that the ids do not tell.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        """Least recently seen first."""

    def without_repeats(self, reports: Sequence[tuple[HookReport, str]], *, now_ms: int) -> list[HookReport]:
        """Those of one request, each with its ``step_key``, that another request did not report within the window.

        A request that is sent again has its ids again, and is no repeat; one without ids is never one.
        """
        fresh = [(report, key) for report, key in reports if not self._is_repeat(report, key, now_ms)]
        for report, key in fresh:
            if report.event_id is not None:
                self._seen[key] = _Seen(report.event_id, _moment(report, now_ms))
                self._seen.move_to_end(key)
        while len(self._seen) > MOST_REPORTS:
            self._seen.popitem(last=False)
        return [report for report, _ in fresh]

    def _is_repeat(self, report: HookReport, key: str, now_ms: int) -> bool:
        before = self._seen.get(key)
        if before is None or report.event_id in {None, before.event_id}:
            return False
        return abs(_moment(report, now_ms) - before.at_ms) <= WINDOW_MS


def _moment(report: HookReport, now_ms: int) -> int:
    return now_ms if report.happened_at_ms is None else report.happened_at_ms


def step_key(report: HookReport) -> str:
    """The same for the same step of the same session, whichever agent's name the hook was given."""
    body = report.body.content if isinstance(report.body, TextBody) else json.dumps(attrs.asdict(report.body))
    session = report.session_id or f"{report.process} {report.cwd}"
    parts = json.dumps([session, report.kind, body, report.new_context])
    return hashlib.sha256(parts.encode()).hexdigest()
