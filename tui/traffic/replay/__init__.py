"""Mock server and replay from a recording."""
