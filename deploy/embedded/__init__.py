"""The embedded stack: Kafka, PostgreSQL and Qdrant's engine from Python wheels, on one machine."""
