"""The statements of a sentence, by rules and classifiers."""
