"""The path of one message through the pipeline, read from the tables."""
