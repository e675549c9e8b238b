"""Keys of the API."""
