"""How memories are made, as pure functions."""
