"""Requests that are asked together, as batches of a provider."""
