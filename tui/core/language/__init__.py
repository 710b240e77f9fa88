"""The language of the interface."""
