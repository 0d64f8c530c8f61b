"""Puts the parts together and runs them."""
