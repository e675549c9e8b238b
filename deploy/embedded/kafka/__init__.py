"""Apache Kafka as one embedded node."""
