"""Pages that people read, made of the same documents that programs read: nothing on them is written twice."""
