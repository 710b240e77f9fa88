"""Addresses and HTTP headers from configurations and servers."""
