"""A lasting memory for coding agents."""
