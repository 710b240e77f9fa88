"""Saved conversations: one SQLite file each, their list and their search."""
