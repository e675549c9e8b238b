"""Budgets of model calls, and their consumption."""
