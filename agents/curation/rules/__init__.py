"""The rules of curation. Pure: values in, values out; no I/O and no clock."""
