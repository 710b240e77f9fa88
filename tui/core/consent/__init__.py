"""Consent: the yes to run a server that came from elsewhere. What it covers, and the question."""
