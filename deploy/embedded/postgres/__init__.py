"""PostgreSQL as an embedded server."""
