"""A namespace within one transaction, and the changes of its memories. Pure."""
