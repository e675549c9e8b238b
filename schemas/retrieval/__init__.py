"""Searches and context blocks: what is asked and what is answered."""
