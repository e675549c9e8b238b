"""Dead letters in the HTTP API."""
