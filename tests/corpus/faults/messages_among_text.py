#!/usr/bin/env python3
"""FAULT: Every frame is on a line with a log prefix and color codes around it.

EXPECT: The response to a pending request is found within the line and used; the line counts as noise.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def send(msg):
    raw(b"\x1b[32m12:30 sending " + json.dumps({"jsonrpc": "2.0", **msg}).encode() + b"\x1b[0m\n")

serve()
