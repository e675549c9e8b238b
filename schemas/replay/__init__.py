"""Generations of memories, and their shadow namespaces."""
