"""The policies of a process, and changes of them."""
