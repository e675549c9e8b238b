"""Attributes of people and things in a statement, with owner and value. Pure."""
