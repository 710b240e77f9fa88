"""Plain mode: the app as lines of text, for those who hear a screen, for slow lines, logs and agents."""
