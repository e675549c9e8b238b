"""Retention of the archive."""
