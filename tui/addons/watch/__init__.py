"""Restarts servers when their files change."""
