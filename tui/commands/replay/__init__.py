"""`mcptui traffic --replay`: resends a recording to a live server."""
