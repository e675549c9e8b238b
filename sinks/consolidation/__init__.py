"""Consolidation runs and dry runs."""
