"""Profiles: what a prompt must always know of whoever it is about."""
