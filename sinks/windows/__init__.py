"""Projected conversation windows for readers, user settings, and start offsets of consumer groups."""
