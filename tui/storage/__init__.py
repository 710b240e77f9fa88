"""Persistent storage: recordings, sessions, exports."""
