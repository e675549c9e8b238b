"""Conversations in the HTTP API: response shapes and requests to a window."""
