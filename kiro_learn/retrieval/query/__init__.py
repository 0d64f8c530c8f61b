"""From a prompt to the queries for the indexes."""
