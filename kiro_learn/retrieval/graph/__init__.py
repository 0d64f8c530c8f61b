"""How the graph answers a message: what the message asks, what is found, what it is worth, and the block for it."""
