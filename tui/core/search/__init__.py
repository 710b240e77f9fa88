"""Searching in texts and bodies: regular expressions in linear time, and how a text may be read."""
