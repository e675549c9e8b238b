"""Model providers behind one port, their prompts, and the checks of their answers."""
