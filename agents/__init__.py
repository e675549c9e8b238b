"""Who acts: the agents of each stage, the LLM stage, and the rules of curation."""
