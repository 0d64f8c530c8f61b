"""The store in one SQLite file, through apsw: one connection writes, a few read."""
