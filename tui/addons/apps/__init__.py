"""App views of servers (MCP Apps): their source, and their text in the browser. Nothing of them runs."""
