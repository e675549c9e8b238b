"""Delivery from Kafka to agents: fenced batches, own positions, manual acks, transactional checkpoints.

README.md in this folder explains what stock Faust does, what is replaced here and why.
"""
