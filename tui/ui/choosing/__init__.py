"""Choosing from long lists: conversations that were saved, and models."""
