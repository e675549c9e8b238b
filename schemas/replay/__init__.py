"""Generations of memories, which replays make."""
