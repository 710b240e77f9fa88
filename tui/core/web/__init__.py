"""The web as a configuration and a server name it: addresses and headers."""
