"""Extraction as a window sees it: triggers, slices, and pending requests."""
