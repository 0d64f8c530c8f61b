"""Looks at a PostgreSQL database as a daemon would meet it. Nothing is changed."""

from __future__ import annotations

import attrs

from kiro_learn.adapters.postgres.connection import IN_USE, SCHEMA, PostgresConnection, Server
from kiro_learn.adapters.postgres.schema import MOVING, MOVING_HINT, VERSION, insist_on_fitness, version_of
from kiro_learn.adapters.postgres.storage import SIZE
from kiro_learn.errors import StorageError
from kiro_learn.model.server import ServerFacts

_CAN_MAKE_SCHEMA = f"""
    SELECT CASE WHEN to_regnamespace('{SCHEMA}') IS NULL THEN has_database_privilege(current_database(), 'CREATE')
           ELSE has_schema_privilege('{SCHEMA}', 'CREATE') END
"""  # a name of ours
_MAY_WRITE = f"SELECT has_table_privilege('{SCHEMA}.store', 'SELECT, UPDATE')"  # a name of ours
_DAEMONS = f"""
    SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
     WHERE l.locktype = 'advisory' AND l.classid = {IN_USE} AND l.granted AND d.datname = current_database()
"""  # noqa: S608  # a number of ours


def look_at(url: str) -> ServerFacts:
    """What is seen of the database at ``url``, within a few seconds."""
    try:
        server = Server(url, lock_seconds=1)
    except StorageError as error:
        return ServerFacts(name="PostgreSQL", problem=str(error), hint=error.hint)
    connection = PostgresConnection(server, None)
    facts = ServerFacts(name=server.name)
    try:
        return _seen(connection, facts)
    except StorageError as error:
        return attrs.evolve(facts, problem=str(error), hint=error.hint)
    finally:
        connection.close()


def _seen(connection: PostgresConnection, facts: ServerFacts) -> ServerFacts:
    version = str(connection.ask("SHOW server_version").run().get)
    facts = attrs.evolve(facts, server_version=version, daemon_count=connection.ask(_DAEMONS).get)
    insist_on_fitness(connection)
    if not connection.ask(f"SELECT to_regclass('{SCHEMA}.store') IS NOT NULL").get:
        problem = "" if connection.ask(_CAN_MAKE_SCHEMA).get else f"the role may not make the schema {SCHEMA}"
        return attrs.evolve(facts, problem=problem, hint="GRANT CREATE ON DATABASE … TO …" if problem else "")
    if not connection.ask(_MAY_WRITE).get:
        return attrs.evolve(
            facts, problem=f"the role may not use the schema {SCHEMA}", hint="Use the role that made it."
        )
    found = version_of(connection)
    facts = attrs.evolve(facts, schema_version=found, bytes=connection.ask(SIZE).get)
    if found > VERSION:
        problem = f"the database is at migration {found}, this version knows {VERSION}"
        return attrs.evolve(facts, problem=problem, hint="Install the kiro-learn that wrote it, or a newer one.")
    if connection.ask(f"SELECT to_regclass('{SCHEMA}.{MOVING}') IS NOT NULL").get:
        return attrs.evolve(facts, problem=f"a move into {facts.name} has not ended", hint=MOVING_HINT)
    return facts
