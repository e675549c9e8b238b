"""Trace headers, and the ids on log lines."""
