"""What says the same becomes one: from candidates and their neighbors to what is written, as pure functions."""
