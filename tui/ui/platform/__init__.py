"""Workarounds for Textual and terminals: driver, output, clipboard, order of keys, memory."""
