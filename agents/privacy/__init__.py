"""Credentials, card numbers and personal data: found in texts and replaced."""
