"""Adaptations of the SDK: its import, its log, and the messages that it sees. Each has a fallback."""
