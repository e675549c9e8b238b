"""Topic names, and records to publish."""
