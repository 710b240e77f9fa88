"""The runtime's knowledge about servers besides their configuration: consent, trust, memory."""
