"""Servers over WebSocket."""
