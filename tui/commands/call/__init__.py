"""`mcptui call`, `read`, `prompt` and `list`: one server, one request, from a shell."""
