"""Decisions about candidates. Pure."""
