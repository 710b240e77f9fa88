"""`mcptui tap`: proxies and records another host's server."""
