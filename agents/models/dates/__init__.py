"""Dates in sentences, resolved against the time of the message."""
