"""Dialogs: confirm, pick, export, help, and the parts of questions."""
