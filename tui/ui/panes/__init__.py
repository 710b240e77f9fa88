"""The regions of the main screen."""
