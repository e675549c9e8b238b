"""What a worker tells Prometheus, and where."""
