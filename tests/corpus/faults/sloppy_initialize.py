#!/usr/bin/env python3
"""FAULT: Every field of the initialize result except the version is malformed; tools work.

EXPECT: Works: invalid fields are ignored, and tools are listed.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


ERA = "legacy"


def initialize(req):
    send({"id": req["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": None, "serverInfo": {"icons": 5},
                                      "instructions": ["x"], "_meta": "x"}})


H["initialize"] = initialize

serve()
