"""Servers that others have packed: entries of a registry, and bundles (.mcpb)."""
