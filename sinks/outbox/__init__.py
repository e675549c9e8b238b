"""From PostgreSQL to Qdrant and Kafka, in the order of the decisions."""
