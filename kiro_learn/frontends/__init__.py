"""Translators: from a protocol to a service call and back."""
