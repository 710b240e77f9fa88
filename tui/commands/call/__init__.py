"""`mcptui call`, `read`, `prompt` and `list`: one request to one server from the shell."""
