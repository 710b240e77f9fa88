"""Servers from registries and bundles."""
