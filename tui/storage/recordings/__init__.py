"""Recordings: the SQLite files that hold the traffic of a run."""
