"""The composition root: builds adapters from the settings and connects them."""
