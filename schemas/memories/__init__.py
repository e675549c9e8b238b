"""Memories, the commands that change them, and the events about them."""
