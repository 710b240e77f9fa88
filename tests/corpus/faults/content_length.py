#!/usr/bin/env python3
"""FAULT: Frames have Content-Length headers, as in the Language Server Protocol.

EXPECT: Fails at once, with a single message that names the cause.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def send(msg):
    body = json.dumps({"jsonrpc": "2.0", **msg}).encode()
    raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

serve()
