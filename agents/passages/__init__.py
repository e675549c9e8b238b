"""The passages stage: makes what was said searchable."""
