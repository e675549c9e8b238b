"""Phrases of wishes to forget, by language."""
