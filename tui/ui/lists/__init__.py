"""Finders over long lists: sessions, models, themes."""
