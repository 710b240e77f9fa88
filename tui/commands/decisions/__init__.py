"""`mcptui decisions` and `mcptui config trust`: past decisions, and consent in advance."""
