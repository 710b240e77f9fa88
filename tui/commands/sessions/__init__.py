"""`mcptui sessions`: work with saved conversations."""
