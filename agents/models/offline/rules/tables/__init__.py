"""The rules of each language."""
