"""Explaining an entry in words."""
