"""Dialogs for questions from servers: forms, addresses, sampling."""
