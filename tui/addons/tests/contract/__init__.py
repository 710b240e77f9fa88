"""Contracts: the definitions of a server in a lock file, what changed since, and what the cases cover."""
