"""The two flows, step by step over ports: what was done becomes memories, and a prompt its block of them."""
