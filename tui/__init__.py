"""mcptui: a full-screen terminal host for the Model Context Protocol. Imports nothing."""

__version__ = "0.1.0"
