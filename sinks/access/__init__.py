"""Keys of the API and the audit log."""
