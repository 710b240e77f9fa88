"""The input of the user: completion, history, attachments."""
