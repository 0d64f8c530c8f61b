-- A team's shared memories. Whoever runs this owns the tables; daemons connect as other roles, which own nothing.
-- Run again, it changes nothing but what a newer kiro_learn adds.

CREATE SCHEMA IF NOT EXISTS kiro_learn_team;

-- Which role, or members of which role, share a project.
CREATE TABLE IF NOT EXISTS kiro_learn_team.members (
    project text COLLATE "C" NOT NULL CHECK (length(project) BETWEEN 1 AND 128),
    role text COLLATE "C" NOT NULL CHECK (length(role) BETWEEN 1 AND 63),
    PRIMARY KEY (project, role)
);

-- A memory of NULL was taken back for good: its home does not share it again by itself.
CREATE TABLE IF NOT EXISTS kiro_learn_team.memories (
    project text COLLATE "C" NOT NULL CHECK (length(project) BETWEEN 1 AND 128),
    owner text COLLATE "C" NOT NULL DEFAULT current_user,
    home text COLLATE "C" NOT NULL CHECK (length(home) BETWEEN 1 AND 64),
    record_id text COLLATE "C" NOT NULL CHECK (length(record_id) BETWEEN 1 AND 64),
    shared_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    memory text CHECK (length(memory) BETWEEN 2 AND 1000000),
    PRIMARY KEY (project, owner, home, record_id)
);

ALTER TABLE kiro_learn_team.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE kiro_learn_team.members FORCE ROW LEVEL SECURITY;
ALTER TABLE kiro_learn_team.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE kiro_learn_team.memories FORCE ROW LEVEL SECURITY;

-- What a policy names is looked up when it is made: no role can put a table of its own in the place of pg_roles. A role
-- that was dropped is in no project. A superuser is in all.

DROP POLICY IF EXISTS seen_by_member ON kiro_learn_team.members;
CREATE POLICY seen_by_member ON kiro_learn_team.members FOR SELECT USING (
    EXISTS (SELECT 1 FROM pg_catalog.pg_roles AS r WHERE r.rolname = members.role AND pg_has_role(r.oid, 'USAGE')));
DROP POLICY IF EXISTS kept_by_owner ON kiro_learn_team.members;
CREATE POLICY kept_by_owner ON kiro_learn_team.members USING (pg_has_role((
    SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = 'kiro_learn_team.members'::regclass), 'USAGE'));

-- Members see what is shared in their projects. Everybody sees what is their own, to take it back. The subquery does not
-- depend on the row, so it is asked once a statement.
DROP POLICY IF EXISTS seen_by_members ON kiro_learn_team.memories;
CREATE POLICY seen_by_members ON kiro_learn_team.memories FOR SELECT USING (
    owner = current_user OR project IN (
        SELECT m.project FROM kiro_learn_team.members AS m
          JOIN pg_catalog.pg_roles AS r ON r.rolname = m.role AND pg_has_role(r.oid, 'USAGE')));
DROP POLICY IF EXISTS shared_by_member ON kiro_learn_team.memories;
CREATE POLICY shared_by_member ON kiro_learn_team.memories FOR INSERT WITH CHECK (
    owner = current_user AND project IN (
        SELECT m.project FROM kiro_learn_team.members AS m
          JOIN pg_catalog.pg_roles AS r ON r.rolname = m.role AND pg_has_role(r.oid, 'USAGE')));
DROP POLICY IF EXISTS withheld_by_owner ON kiro_learn_team.memories;
CREATE POLICY withheld_by_owner ON kiro_learn_team.memories FOR UPDATE
    USING (owner = current_user) WITH CHECK (owner = current_user AND memory IS NULL);
DROP POLICY IF EXISTS taken_back_by_owner ON kiro_learn_team.memories;
CREATE POLICY taken_back_by_owner ON kiro_learn_team.memories FOR DELETE USING (owner = current_user);
