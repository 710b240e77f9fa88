"""Configuration files of other hosts: read and converted to our tables, never written."""
