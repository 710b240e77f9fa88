"""Checking messages and results against schemas."""
