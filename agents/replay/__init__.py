"""Replays: extracts messages again into shadow namespaces, and switches between these and the live memories."""
