"""Configuration: its schema, location, reading and writing."""
