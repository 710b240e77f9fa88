"""Signing in to remote servers: consent, callback, tokens, OAuth by the SDK. Loaded only when needed."""
