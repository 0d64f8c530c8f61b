"""Structured concurrency for any actor, and nothing of what this program is about."""
