"""JSON-RPC as bytes: framing, classifying, skimming, reading."""
