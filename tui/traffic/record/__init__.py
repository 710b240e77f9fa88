"""Turning captured bytes into entries."""
