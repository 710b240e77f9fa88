"""`mcptui agent`: recordings and servers for coding agents, as an MCP server."""
