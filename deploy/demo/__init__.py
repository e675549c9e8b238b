"""The demo: the whole pipeline on one machine, with the sample conversations."""
