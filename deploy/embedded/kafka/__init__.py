"""Apache Kafka as an embedded node."""
