"""Search over memories and passages, and the context blocks built from the hits."""
