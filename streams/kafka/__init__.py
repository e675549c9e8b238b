"""Kafka beside the agents: topics, publishing, reading without a group, security."""
