"""How processes run: start, logging, tracing, data directories, shutdown."""
