"""The heart: conversation, loop, limits and ports. Standard library only, no I/O."""
