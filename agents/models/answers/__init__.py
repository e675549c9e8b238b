"""The checks on what a model answers."""
