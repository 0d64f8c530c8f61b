"""Redacting private spans and secrets: pure functions that every write path calls."""
