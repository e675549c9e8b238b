"""Searches and context blocks: queries and answers."""
