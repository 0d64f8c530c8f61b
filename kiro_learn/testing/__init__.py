"""The fakes that we ship, and simulated time."""
