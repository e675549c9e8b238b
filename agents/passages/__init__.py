"""The passages stage: makes messages searchable."""
