"""Counts of stored rows, for metrics."""
