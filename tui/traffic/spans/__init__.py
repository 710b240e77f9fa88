"""Spans of a turn, entries as text, and the waterfall."""
