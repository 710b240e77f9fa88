"""What a terminal is told besides the text on it."""
