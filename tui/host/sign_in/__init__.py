"""Signing in to remote servers: consent, callback, tokens, and OAuth by the SDK. Loaded when one asks."""
