"""Memories made anew from what Kafka tells of them."""
