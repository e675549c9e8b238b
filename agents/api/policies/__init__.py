"""Policies in the HTTP API."""
