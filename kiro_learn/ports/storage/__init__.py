"""The store's contract."""
