"""Runs suites against real servers, and judges what they respond."""
