"""What workers and the API tell Prometheus, and where."""
