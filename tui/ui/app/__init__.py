"""The App: themes, screens, palette, quit."""
