"""The offline provider's rules: tables of first-person sentences, one language per file."""
