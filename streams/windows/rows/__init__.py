"""Windows as rows of the window table."""
