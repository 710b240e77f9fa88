"""Replaying a recording against a server, and acting as a recorded server."""
