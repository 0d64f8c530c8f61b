"""From the events that wait in a buffer to records in the store."""
