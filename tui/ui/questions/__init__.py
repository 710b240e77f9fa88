"""Dialogs for what servers ask: forms, addresses, sampling; and who opens them."""
