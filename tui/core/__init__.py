"""Turns, conversations and ports. Standard library only."""
