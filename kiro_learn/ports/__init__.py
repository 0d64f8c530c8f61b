"""What the house asks of the outside, as protocols; nothing here does any work."""
