"""The archive: every message as it was said, how far it is consolidated, and its retention."""
