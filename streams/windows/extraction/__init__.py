"""Extraction as a window sees it: triggers, slices, and what is on its way."""
