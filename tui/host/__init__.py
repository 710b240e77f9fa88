"""MCP servers: processes, connections, calls. The only package that imports mcp: its OAuth and its models."""
