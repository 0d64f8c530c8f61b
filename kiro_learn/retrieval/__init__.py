"""How memories are found, as pure functions."""
