"""Screens for finding an item in a long list: sessions, models, rules."""
