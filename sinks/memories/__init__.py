"""Memories, their versions, settled commands, and search by words."""
