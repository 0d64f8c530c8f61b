"""Turns hits into an order. Each algorithm has one file and one citation."""
