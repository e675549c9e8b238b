"""Claude, through the SDK of Anthropic."""
