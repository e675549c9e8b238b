"""The extraction stage: one model call a slice, its answer stored before candidates are published."""
