"""Configuration: its schema, where it lies, how it is read and written."""
