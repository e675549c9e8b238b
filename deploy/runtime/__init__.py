"""Processes: start, logging, tracing, data directories, shutdown."""
