"""A request as text that runs: `mcptui call …`, curl, Python and TypeScript with the SDKs. Pure."""
