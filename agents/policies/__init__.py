"""The policies of a process, and changes to them."""
