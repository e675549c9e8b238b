"""Memories made anew from Kafka."""
