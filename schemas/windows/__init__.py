"""Requests to token windows."""
