"""Actors: each owns one piece of state, and no other code changes it."""
