"""The fakes we ship, and simulated time."""
