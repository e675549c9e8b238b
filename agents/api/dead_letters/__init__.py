"""Dead letters as the API shows them."""
