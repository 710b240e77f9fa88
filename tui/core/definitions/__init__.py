"""What tools say of themselves: what of it was accepted, and what has changed since."""
