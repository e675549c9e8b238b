"""Data in motion: the Faust apps of each stage, their topics, fenced delivery, and the pure logic of token windows."""
