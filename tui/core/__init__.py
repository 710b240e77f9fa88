"""Turns, conversations and ports. Standard library only; only `atomic_write` does I/O."""
