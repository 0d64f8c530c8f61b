"""Each owns one piece of state and is the only one to touch it."""
