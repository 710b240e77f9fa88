"""`mcptui tap --into` and `--out`: record the servers of other hosts."""
