"""`mcptui config`: the configuration, and the servers of other hosts."""
