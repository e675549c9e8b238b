"""Recognises limits and standing wishes."""
