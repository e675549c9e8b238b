"""Budgets of model calls, and what is consumed of them."""
