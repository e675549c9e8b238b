"""What lies between Kafka and an agent: fenced batches, own positions, acks by hand, transactional checkpoints.

README.md in this folder explains what stock Faust does, what is replaced here and why.
"""
