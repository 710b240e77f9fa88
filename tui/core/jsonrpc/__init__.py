"""JSON-RPC as bytes: one framer, one skimmer, one JSON reader, and the messages."""
