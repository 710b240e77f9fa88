"""Small dialogs: confirm, pick, export, help."""
