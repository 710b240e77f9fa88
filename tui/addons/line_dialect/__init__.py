"""Servers that speak a simple JSON-lines protocol instead of JSON-RPC."""
