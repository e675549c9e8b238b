"""Usage and budgets of model calls."""
