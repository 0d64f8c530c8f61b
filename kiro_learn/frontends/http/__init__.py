"""The daemon's port, on Quart-Trio."""
