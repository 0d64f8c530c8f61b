"""Nothing private gets past here: pure functions that every write path calls."""
