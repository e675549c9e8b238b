"""Dead letters: records that cannot be processed, written with their reason and source, read, and replayed."""
