"""Running memstream: settings, the composition root, the command line, the embedded stack and the samples."""
