"""Dates in sentences, resolved against the moment they were said."""
