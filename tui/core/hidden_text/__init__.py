"""Finds text of servers that the user does not see, or that gives the model instructions."""
