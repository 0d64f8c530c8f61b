"""From chosen records to the block of text that an agent reads."""
