"""The provider without a model: deterministic rules."""
