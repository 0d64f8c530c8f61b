"""Merges records that say the same: from candidates and their neighbors to the records to write, as pure functions."""
