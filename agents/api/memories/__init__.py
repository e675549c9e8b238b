"""Memories in the HTTP API: views, changes as commands, lists, export and import."""
