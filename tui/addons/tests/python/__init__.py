"""Suites and Python: a first suite from a server's own examples, Python tests, and the items of pytest."""
