#!/usr/bin/env python3
"""FAULT: tools/call is answered with a line that never ends.

EXPECT: The call fails and the server is stopped with a reason, long before gigabytes are read.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def endless(req):
    raw(b'{"jsonrpc": "2.0", "id": ' + json.dumps(req["id"]).encode() + b', "result": {"content": [{"type": "text", "text": "')
    while True:
        raw(b"x" * (1 << 20))


H["tools/call"] = endless

serve()
