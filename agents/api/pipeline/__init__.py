"""The state of the pipeline, for operators."""
