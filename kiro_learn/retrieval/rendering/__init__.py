"""From chosen records to the text an agent is told."""
