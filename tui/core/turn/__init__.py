"""The turn: the loop, its limits, approvals and tool calls."""
