"""How models without function calling write a tool call; wrappers come here."""
