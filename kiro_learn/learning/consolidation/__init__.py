"""Fewer and denser in the place of much, as pure functions; actors carry it out."""
