"""What is seen of a database that a server keeps, whether a daemon runs or not."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class ServerFacts:
    """Of one database. Where there is a problem, the rest is what was seen before it."""

    name: str
    """For people: the database and where its server is, without user and password."""
    problem: str = ""
    """Why a daemon cannot use it; empty if it can."""
    hint: str = ""
    """What helps."""
    server_version: str = ""
    schema_version: int = 0
    """0: there is no schema of ours yet; the first daemon makes it."""
    bytes: int = 0
    """Of the tables with their indexes."""
    daemon_count: int = 0
    """Of daemons that use it now."""
