"""Erasures, their fences, and the deletes that they come to."""
