"""The protocol linter."""
