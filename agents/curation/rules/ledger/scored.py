"""Memories with their cosine to a candidate."""

from msgspec import Struct

from schemas.memories.memories import Memory


class Scored(Struct, frozen=True):
    """A live memory near a candidate; `score` is the cosine."""

    memory: Memory
    score: float
