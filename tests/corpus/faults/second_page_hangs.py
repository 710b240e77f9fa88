#!/usr/bin/env python3
"""FAULT: The second page of tools/list is never sent.

EXPECT: At most half of the start deadline is spent on it; the tools of the first page can be used.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def tools_list(req):
    if "cursor" not in req["params"]:
        ok(req, {"tools": TOOLS, "nextCursor": "2", "ttlMs": 0, "cacheScope": "private"})


H["tools/list"] = tools_list

serve()
