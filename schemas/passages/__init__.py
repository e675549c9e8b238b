"""Passages: messages as search finds them."""
