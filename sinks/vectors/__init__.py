"""The vector index: its port, and Qdrant behind it."""
