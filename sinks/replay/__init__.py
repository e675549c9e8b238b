"""Generations of memories that a replay extracts."""
