"""What a message's text says about its importance and its task: read once, on arrival, into one small integer."""
