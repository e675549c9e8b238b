"""Who may do what: keys, rights, rate limits."""
