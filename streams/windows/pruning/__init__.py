"""Pruning: decides which messages stay in context, and why."""
