"""The add-on for connections that stay: `mcptui up`, and the door into a running mcptui."""
