"""Documents for people and programs, generated from the shapes."""
