"""The rules by which candidates become memories: values in, values out; no I/O and no clock."""
