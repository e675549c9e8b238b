"""Profiles: what a prompt must always know about a person."""
