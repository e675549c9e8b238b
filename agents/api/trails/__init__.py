"""The path of one message from its topic to its memories."""
