"""The offline provider's rules: what each language's first-person sentences say, as tables, one language a file."""
