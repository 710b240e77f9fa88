#!/usr/bin/env python3
"""FAULT: No frame ends with a newline.

EXPECT: Start deadline; the reason says that each message must end with a newline.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def send(msg):
    raw(json.dumps({"jsonrpc": "2.0", **msg}).encode())

serve()
