"""From a prompt to what is asked of the indexes."""
