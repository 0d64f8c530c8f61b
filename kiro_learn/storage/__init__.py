"""Where events and records are kept."""
