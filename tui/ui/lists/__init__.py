"""Screens to find something in a long list: sessions, models."""
