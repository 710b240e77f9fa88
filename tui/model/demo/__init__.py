"""The offline, rule-based demo model."""
