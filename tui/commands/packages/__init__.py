"""Packaged servers: registry entries and bundles (.mcpb)."""
