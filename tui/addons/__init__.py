"""Add-ons: features that the rest can do without. Nothing outside of a folder imports it."""
