"""How a conversation is drawn."""
