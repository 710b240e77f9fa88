"""Asks for approval and consent on a terminal, tries rules on past calls, and lists decisions."""
