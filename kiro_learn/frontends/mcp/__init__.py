"""The Model Context Protocol: over HTTP inside the daemon, and on standard input in a process of its own."""
