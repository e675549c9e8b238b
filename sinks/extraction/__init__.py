"""Stored answers, parked requests, batches, and calibrations of token counts."""
