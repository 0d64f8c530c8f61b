"""From a prompt to the memories that help with it."""
