"""Erasures, their fences, and the deletions that they cause."""
