"""The conversation as data: messages, remarks, usage, sessions and their names."""
