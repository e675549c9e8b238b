"""Rerankers behind HTTP endpoints."""
