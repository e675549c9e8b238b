"""Passages: their words in PostgreSQL, their vectors in Qdrant, their texts in the archive alone."""
