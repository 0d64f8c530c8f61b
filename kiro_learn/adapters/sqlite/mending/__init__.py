"""Putting another file in the place of a database, and reading what is left in a damaged one."""
