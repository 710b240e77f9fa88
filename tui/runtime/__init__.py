"""The composition root, and what one run of mcptui owns."""
