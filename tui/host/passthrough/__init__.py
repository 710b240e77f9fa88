"""The proxy of `mcptui tap`: relays bytes or HTTP between another host and its server."""
