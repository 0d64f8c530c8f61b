"""The roof: puts the parts together and runs them."""
