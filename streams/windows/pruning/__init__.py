"""Pruning: what of a conversation stays in its context, and why."""
