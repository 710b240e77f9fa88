"""Turns as spans, for the trace pane and the waterfall."""
