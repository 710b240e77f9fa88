"""The main screen and its panes."""
