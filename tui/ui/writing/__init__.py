"""Writing a message: commands, completion, attachments, what was written before, and the editor."""
