"""Consolidation: what waits is asked for together at night or by hand, and what came of it is counted."""
