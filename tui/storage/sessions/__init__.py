"""Saved conversations: one SQLite file each, listing and search."""
