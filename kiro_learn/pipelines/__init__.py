"""The two flows, step by step over ports: events become memories, and a prompt gets its block of memories."""
