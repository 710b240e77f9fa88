"""Configuration: its schema, where it is, how it is read and written."""
