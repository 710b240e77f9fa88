"""Exports of recordings: JSON lines, Markdown, HAR, HTML."""
