"""Metrics of workers and the API for Prometheus."""
