"""Dialects: how models without function calling write tool calls.

A dialect is a prompt and a parser. `ToolCalls`, a ChatModel around another one, puts the tools into the
system text, rewrites calls and results in the history as text, and lets the dialect parse the calls in the
text of the inner model. The loop sees a model with function calling.

Parsers are pure: text in, pieces out, however the text was split (`dialect_parser.py`). The prompts are text
files in the same folder.
"""
