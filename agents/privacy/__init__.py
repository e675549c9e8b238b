"""Finds and replaces credentials, card numbers and personal data in texts."""
