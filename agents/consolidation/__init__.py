"""Consolidation: extracts waiting messages by schedule or by hand, and counts the results."""
