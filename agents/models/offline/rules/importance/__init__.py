"""The importance of memories, and what may be shortened or removed."""
