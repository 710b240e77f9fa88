#!/usr/bin/env python3
"""FAULT: Prints FAULT_LINES (default 200,000) progress lines on stdout before it reads anything.

EXPECT: Lines are counted, but only a few are parsed; the handshake works as soon as they end.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


for _ in range(int(os.environ.get("FAULT_LINES", "200000"))):
    raw(b"Loading a module from a path that is long enough to matter ... done\n")

serve()
