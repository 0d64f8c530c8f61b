"""How the graph answers a message: what is asked, what is found, what it is worth, and the block it makes."""
