"""The embedded stack: Kafka, PostgreSQL and Qdrant's engine, brought up from wheels on one machine."""
