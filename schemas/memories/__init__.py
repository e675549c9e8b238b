"""Memories: their kinds, importance and links, and the events that tell of them."""
