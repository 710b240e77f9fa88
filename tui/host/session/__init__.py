"""The JSON-RPC session with one server: requests, the handshake, and what the server asks."""
