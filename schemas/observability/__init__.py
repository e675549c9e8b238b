"""Trace headers, and the ids that lines of the log carry."""
