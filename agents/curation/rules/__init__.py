"""The rules of curation. Pure: values in, values out."""
