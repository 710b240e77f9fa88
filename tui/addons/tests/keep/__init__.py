"""Keeps calls: what a case expects is made from an exchange, and written to a file."""
