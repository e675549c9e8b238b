"""Classifies pairs of texts with cross-encoders: whether a statement ends an earlier one, and what a sentence states."""
