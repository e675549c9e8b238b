"""Records that cannot be processed: written with their reason and position, read back, published again."""
