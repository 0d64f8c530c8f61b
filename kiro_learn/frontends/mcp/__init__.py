"""The Model Context Protocol: asked by HTTP inside the daemon, and on standard input beside it."""
