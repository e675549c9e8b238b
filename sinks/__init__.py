"""Storage: PostgreSQL, the source of truth, and its projections in Qdrant and Kafka."""
