"""`mcptui tap`: a process between another host and its server."""
