"""The curation stage: decides what becomes of candidates and commands. `rules` has the pure logic."""
