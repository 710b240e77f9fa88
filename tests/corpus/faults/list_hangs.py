#!/usr/bin/env python3
"""FAULT: The handshake works, tools/list is never answered, tools/call works.

EXPECT: The server is RUNNING without tools. Its status says that they could not be listed. They are requested
again after a delay, and on request.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


H["tools/list"] = lambda req: None

serve()
