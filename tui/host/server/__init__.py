"""One configured server: its connections, what it offers, and its state."""
