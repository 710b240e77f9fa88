"""The tap: relaying between another host and its server."""
