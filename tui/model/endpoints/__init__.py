"""Endpoints: providers, quirks, context windows, keys, errors."""
