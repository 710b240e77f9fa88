"""Asks for consent, trust and approvals, and applies the answers of this run and of earlier ones."""
