"""Dialogs about consent, trust and definitions, and the rules screen."""
