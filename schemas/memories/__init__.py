"""Memories: kinds, importance, links, and the events about them."""
