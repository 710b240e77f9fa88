#!/usr/bin/env python3
"""FAULT: Each tools/call returns differently malformed content: not a list, items that are not objects,
unknown types, null texts, bad base64, a `javascript:` link.

EXPECT: Each call has a result that can be shown; nothing is dropped silently, nothing is opened.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


ODD = [
    None, "text", {"type": "text", "text": "one"}, 7, [None, 7, "x", [], {}], [{"type": "text", "text": None}],
    [{"type": "nonsense", "x": 1}], [{"type": ["text"]}], [{"type": "image", "data": "!!!", "mimeType": 7}],
    [{"type": "resource", "resource": {"uri": "x:y", "blob": "***"}}],
    [{"type": "resource_link", "uri": "javascript:alert(1)", "name": "Click"}],
]
ANSWERED = []


def tools_call(req):
    ANSWERED.append(req["id"])
    ok(req, {"content": ODD[(len(ANSWERED) - 1) % len(ODD)]})


H["tools/call"] = tools_call

serve()
