"""Actions, key bindings and slash commands."""
