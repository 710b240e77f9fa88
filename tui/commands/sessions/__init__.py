"""`mcptui sessions`: saved conversations."""
