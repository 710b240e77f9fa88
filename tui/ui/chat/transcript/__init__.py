"""Drawing of a conversation."""
