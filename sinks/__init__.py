"""Where data rests: Postgres, which is the truth, and its projections in Qdrant and Kafka."""
