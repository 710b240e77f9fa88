#!/usr/bin/env python3
"""FAULT: Each page of tools/list has a different nextCursor of 1 MiB.

EXPECT: The listing ends at the cursor, which is not sent back.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


PAGES = []


def tools_list(req):
    PAGES.append(req["id"])
    cursor = f"{len(PAGES)}".ljust(1 << 20, "c")
    ok(req, {"tools": TOOLS, "nextCursor": cursor, "ttlMs": 0, "cacheScope": "private"})


H["tools/list"] = tools_list

serve()
