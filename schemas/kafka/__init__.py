"""Topics by name, and records for them."""
