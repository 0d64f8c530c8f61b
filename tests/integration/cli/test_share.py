"""People share memories through a real server, with roles that own nothing there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from kiro_learn.client.routes import Client
from tests.integration.cli.command_line import done, event, failed, kiro_learn, record
from tests.integration.daemon_process import running_daemon
from tests.postgres import PostgresForTests, postgres_server

RULE = "Always sign commits"


@attrs.frozen
class Place:
    """A person's home and folder, and the URL with the person's role."""

    home: Path
    folder: Path
    url: str


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresForTests]:
    with postgres_server() as found:
        yield found


@contextmanager
def roles(server: PostgresForTests, *names: str) -> Iterator[None]:
    """Roles without passwords: the tests' server trusts all who can open its socket."""
    try:
        for name in names:
            server.admin.execute(f'CREATE ROLE "{name}" LOGIN')
        yield
    finally:
        server.admin.execute("DROP SCHEMA IF EXISTS kiro_learn_team CASCADE")
        for name in names:
            server.admin.execute(f'DROP ROLE "{name}"')


def place(tmp_path: Path, server: PostgresForTests, name: str) -> Place:
    folder = tmp_path / name / "shop"
    folder.mkdir(parents=True)
    return Place(tmp_path / name / "home", folder, server.url.replace("postgres:@", f"{name}@"))


def share(one: Place, projects: str) -> None:
    done(kiro_learn(one.home, "config", "set", "share.url", one.url))
    done(kiro_learn(one.home, "config", "set", "share.projects", projects))


def status(one: Place) -> dict[str, Any]:
    return dict(json.loads(done(kiro_learn(one.home, "share", "now", "--json"))))


def test_two_people_share_a_project_and_a_third_sees_nothing(tmp_path: Path, server: PostgresForTests) -> None:
    owner = server.url.replace(":@", "@")
    with roles(server, "ann", "bob", "eve"):
        assert "admit" in done(kiro_learn(tmp_path / "o", "share", "setup", owner))
        assert "no role dan" in failed(kiro_learn(tmp_path / "o", "share", "admit", owner, "shop", "ann", "dan"))[0]
        assert "0 memberships" in done(kiro_learn(tmp_path / "o", "share", "members", owner))
        assert "shop  bob" in done(kiro_learn(tmp_path / "o", "share", "admit", owner, "shop", "ann", "bob"))
        places = {name: place(tmp_path, server, name) for name in ("ann", "bob", "eve")}
        ann, bob, eve = places.values()
        for one in places.values():
            share(one, f"shop={one.folder}")
        with (
            running_daemon(ann.home) as anns,
            running_daemon(bob.home) as bobs,
            running_daemon(eve.home) as eves,
            Client(anns.home) as client,
            Client(bobs.home) as other,
        ):
            namespace = str(client.project_of(ann.folder)["namespace"])
            said = event(namespace, str(ann.folder), 1, "a secret of the prompt")
            client.post_event(said)
            kept = record(namespace, 1, title=RULE, source_event_ids=[said["event_id"]], knowledge_type="constraint")
            client.remember(kept)
            assert [each["shared"] for each in status(ann)["projects"]] == [1]
            [shop] = status(bob)["projects"]
            assert shop["received"] == {"ann": 1}
            bobs_namespace = str(other.project_of(bob.folder)["namespace"])
            [found] = other.ranked_memories(bobs_namespace, "sign commits")
            assert "Told by  ann" in done(kiro_learn(bob.home, "memories", "show", found["record_id"]))
            assert "1 memory of ann" in done(kiro_learn(bob.home, "share"))

            assert status(eve)["projects"][0]["problem"] == "eve is not admitted to shop"
            assert eves.home == eve.home
            done(kiro_learn(ann.home, "share", "withdraw", kept["record_id"], "--project", str(ann.folder)))
            assert status(bob)["projects"][0]["received"] == {}
            assert other.ranked_memories(bobs_namespace, "sign commits") == []
            done(kiro_learn(ann.home, "share", "again", kept["record_id"], "--project", str(ann.folder)))
            assert status(bob)["projects"][0]["received"] == {"ann": 1}
            texts = "\n".join(each for (each,) in server.admin.execute("SELECT memory FROM kiro_learn_team.memories"))
            assert RULE in texts
            assert "secret of the prompt" not in texts
            assert str(tmp_path) not in texts
            done(kiro_learn(tmp_path / "o", "share", "expel", owner, "shop", "bob"))
            assert status(bob)["projects"][0]["problem"] == "bob is not admitted to shop"
            assert other.ranked_memories(bobs_namespace, "sign commits") == []


def test_no_role_sees_or_changes_what_is_not_its_own_to_see_or_change(tmp_path: Path, server: PostgresForTests) -> None:
    import psycopg  # noqa: PLC0415  # of an extra

    def asked(role: str, statement: str) -> list[Any]:
        """The server's answer to the last statement of the role, or the name of the error."""
        url = server.url.replace("postgres:@", f"{role}@")
        with psycopg.connect(url, autocommit=True) as connection:
            try:
                cursor = connection.execute(statement.encode())
            except psycopg.Error as error:
                return [type(error).__name__]
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else [cursor.rowcount]

    owner = server.url.replace(":@", "@")
    with roles(server, "ann", "bob", "eve"):
        for arguments in (("setup", owner), ("admit", owner, "shop", "ann", "bob"), ("admit", owner, "api", "eve")):
            done(kiro_learn(tmp_path / "o", "share", *arguments))
        done(kiro_learn(tmp_path / "o", "share", "setup", owner))
        columns = "project, home, record_id, memory"
        insert = f"INSERT INTO kiro_learn_team.memories ({columns}{{}}) VALUES ('{{}}', 'h', 'r', '[]'{{}})"  # noqa: S608  # a test's own
        assert asked("ann", insert.format("", "shop", "")) == [1]
        assert asked("eve", insert.format("", "api", "")) == [1]
        refused = ["InsufficientPrivilege"]
        assert asked("eve", insert.format("", "shop", "")) == refused, "she is no member"
        assert asked("bob", insert.format(", owner", "shop", ", 'ann'")) == refused, "he is not Ann"
        for role, seen in (("ann", ["ann"]), ("bob", ["ann"]), ("eve", ["eve"])):
            assert [each for (each,) in asked(role, "SELECT owner FROM kiro_learn_team.memories")] == seen
        assert asked("bob", "UPDATE kiro_learn_team.memories SET memory = NULL") == [0]
        assert asked("ann", "UPDATE kiro_learn_team.memories SET memory = '[1]'") == refused, "it is shared as it was"
        assert asked("bob", "DELETE FROM kiro_learn_team.memories") == [0]
        for table, privilege in (("memories", "TRUNCATE"), ("members", "DELETE FROM"), ("memories", "DROP TABLE")):
            assert asked("bob", f"{privilege} kiro_learn_team.{table}") == refused
        assert asked("bob", "INSERT INTO kiro_learn_team.members VALUES ('api', 'bob')") == refused
        assert asked("bob", "UPDATE kiro_learn_team.memories SET owner = 'bob'") == refused
        assert asked("bob", "ALTER TABLE kiro_learn_team.memories DISABLE ROW LEVEL SECURITY") == refused
        assert asked("bob", "SELECT project, role FROM kiro_learn_team.members") == [("shop", "bob")]
        forged = """
            CREATE TEMP TABLE pg_roles AS
            SELECT oid, 'ann'::name AS rolname FROM pg_catalog.pg_roles WHERE rolname = 'eve';
            SELECT owner FROM kiro_learn_team.memories
        """
        assert asked("eve", forged) == [("eve",)], "a table of hers is not taken for the server's"
        walls = """
            SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
             WHERE n.nspname = 'kiro_learn_team' AND relkind = 'r' AND NOT (relrowsecurity AND relforcerowsecurity)
        """
        assert asked("postgres", walls) == [], "every table of the schema has its wall"
        done(kiro_learn(tmp_path / "o", "share", "expel", owner, "shop", "ann"))
        assert asked("ann", "DELETE FROM kiro_learn_team.memories") == [1], "what is her own she may take back"


def test_what_is_wrong_is_said_with_what_helps(tmp_path: Path, server: PostgresForTests) -> None:
    owner, folder = server.url.replace(":@", "@"), str(tmp_path)
    one = Place(tmp_path / "home", tmp_path, owner)
    assert "expected kinds" in failed(kiro_learn(one.home, "config", "set", "share.projects", "shop: jokes"), code=2)[0]
    assert "twice" in failed(kiro_learn(one.home, "config", "set", "share.projects", "a, a"), code=2)[0]
    assert "Nothing is shared" in _after(one, "share")
    share(one, f"shop={folder}")
    with running_daemon(one.home):
        said = " ".join(failed(kiro_learn(one.home, "share", "now"), code=1))
        assert "no memories of a team" in said
        assert "kiro-learn share setup" in said
    done(kiro_learn(one.home, "config", "set", "share.url", "postgresql://nobody@127.0.0.1:9/none"))
    with running_daemon(one.home):
        said, hint = failed(kiro_learn(one.home, "share", "now"), code=1)
        assert "cannot be reached" in said
        assert "both sides keep what they have" in hint
    done(kiro_learn(one.home, "config", "set", "storage.url", owner))
    assert "users of one database share all of it" in kiro_learn(one.home, "serve").stderr


def _after(one: Place, *arguments: str) -> str:
    with running_daemon(one.home):
        return done(kiro_learn(one.home, *arguments))
