"""Memory events told as they happen: streams, the places in them, and what wakes them."""
