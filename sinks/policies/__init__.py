"""One writer of policies at a time."""
