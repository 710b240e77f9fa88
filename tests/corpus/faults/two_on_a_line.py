#!/usr/bin/env python3
"""FAULT: A log notification and each frame are on one line, without a newline between them (threads that
print).

EXPECT: The response is found within the line and used.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def send(msg):
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
    raw(json.dumps(note).encode() + json.dumps({"jsonrpc": "2.0", **msg}).encode() + b"\n")

serve()
