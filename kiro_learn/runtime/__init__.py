"""Structured concurrency for any actor; it knows nothing of events, memories or projects."""
