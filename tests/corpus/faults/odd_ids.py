#!/usr/bin/env python3
"""FAULT: tools/call is answered only after responses with these ids: null, true, negative, a fraction, a
list, an object, empty, huge.

EXPECT: Each is ignored; the response with the right id is used.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def tools_call(req):
    for odd in (None, True, -1, 1.5, [req["id"]], {"id": req["id"]}, "", "x" * 100_000, 10**30):
        send({"id": odd, "result": {"content": [{"type": "text", "text": "stolen"}]}})
    text(req, "mine")


H["tools/call"] = tools_call

serve()
