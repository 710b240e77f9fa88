"""Private folders and files."""
