"""The curation stage: decides about candidates and commands. `rules` has the pure logic."""
