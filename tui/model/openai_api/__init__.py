"""The OpenAI chat API: requests, streams, tool calls."""
