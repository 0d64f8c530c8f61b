"""From a batch of events to drafts of records."""
