"""Answering and replaying from a recording."""
