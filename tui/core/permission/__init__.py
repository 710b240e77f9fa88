"""May it? Consent, trust, approvals, accepted definitions, rules, and their decisions. Pure."""
