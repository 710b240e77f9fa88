"""Consent to run a server from elsewhere: what it covers, and the question."""
