"""Storage: PostgreSQL, which is the truth, and its projections in Qdrant and Kafka."""
