"""One message from its topic to its memories."""
