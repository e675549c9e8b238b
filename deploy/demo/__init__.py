"""The main job for a newcomer: the whole path on one machine, and what came of it."""
