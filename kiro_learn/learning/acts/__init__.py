"""Acts: what an agent is about to do, and the rules that are about it."""
