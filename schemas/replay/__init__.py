"""Generations of memories, and the shadow namespaces that they live in."""
