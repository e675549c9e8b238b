"""Compares two statements with a cross-encoder: whether the later one ends, repeats or leaves the earlier one."""
