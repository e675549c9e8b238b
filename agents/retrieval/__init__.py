"""Finding memories: pure ranking, and the search over what holds them."""
