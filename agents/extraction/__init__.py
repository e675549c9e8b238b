"""The extraction stage: one model call per slice; its answer is stored before candidates are published."""
