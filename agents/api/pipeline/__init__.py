"""How the pipeline stands, for operators."""
