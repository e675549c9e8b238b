"""The LLM stage: providers behind one port, the prompt, and the checks on what comes back."""
