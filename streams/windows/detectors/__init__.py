"""Detectors of importance and tasks in the text of a message: run once, on arrival, into one small integer."""
