"""Answers about consent, trust and definitions, and the record of decisions, in files."""
