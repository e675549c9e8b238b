"""Passages: what was said, as search finds it."""
