"""Memories over HTTP: views, changes as commands, lists, export and import."""
