"""Rebuilds memories from Kafka."""
