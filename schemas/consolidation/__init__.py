"""Consolidation runs, and retention of the archive."""
