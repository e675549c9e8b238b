"""Conversations for people and chat services: access, contexts, and manual changes."""
