"""Conversation windows as others may read them, and where consumer groups began."""
