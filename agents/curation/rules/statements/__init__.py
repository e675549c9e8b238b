"""Statements as words: normal forms, synonyms, times, numbers, and what tells two texts apart. Pure."""
