"""Erases users, conversations and namespaces everywhere; deploy/docs/erasure.md describes the division of work."""
