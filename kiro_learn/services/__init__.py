"""The use cases: all that a front end may call."""
