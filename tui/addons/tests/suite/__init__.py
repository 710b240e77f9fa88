"""Suites: `*.mcp.toml` files as values. Reads and changes them; starts nothing."""
