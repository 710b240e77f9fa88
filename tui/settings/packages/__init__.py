"""Converts packaged servers (registry entries and bundles) to configuration."""
