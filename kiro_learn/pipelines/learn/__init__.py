"""From what waits in a buffer to records in the store."""
