"""Consumption and budgets over HTTP."""
