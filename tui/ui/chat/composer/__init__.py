"""What is typed: completion, history, attachments, the editor."""
