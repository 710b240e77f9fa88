"""The MCP side: servers as processes and connections. The only room that imports mcp."""
