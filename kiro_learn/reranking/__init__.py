"""Putting the best that was found in a better order, by a model that reads each beside the query."""
