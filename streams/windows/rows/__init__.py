"""Windows as rows of a table."""
