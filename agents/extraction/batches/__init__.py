"""Requests that are submitted together, as batches of a provider."""
