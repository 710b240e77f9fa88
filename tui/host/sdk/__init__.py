"""What bends the SDK: its import, its log, and what it sees of the wire. Each with a fallback."""
