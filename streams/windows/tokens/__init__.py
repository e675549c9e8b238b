"""Tokens: counted, billed, and held against the limits of models."""
