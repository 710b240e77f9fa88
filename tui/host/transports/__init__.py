"""How bytes travel between mcptui and a server."""
