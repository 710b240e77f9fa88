"""MCP servers: processes, connections, calls. The only room that imports mcp."""
