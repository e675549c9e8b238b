"""Access control of the API: keys, rights, rate limits."""
