#!/usr/bin/env python3
"""FAULT: Progress for unknown tokens, decreasing, beyond the total, out of range, of wrong types, and after
the response.

EXPECT: Notifications that are not valid progress of the call are ignored; the response is used.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def tools_call(req):
    token = (req["params"].get("_meta") or {}).get("progressToken")
    odd = [{"progressToken": "nobody", "progress": 1}, {"progressToken": None, "progress": 1}]
    odd += [{"progressToken": token, "progress": value} for value in (-5, "7", None, True, 1e308, 10**400, 3)]
    odd += [{"progressToken": token, "progress": 1, "total": total} for total in (0, -1, "x", 10**400)]
    odd += [{"progressToken": token, "progress": 1, "message": said} for said in ("m" * 100_000, {"a": 1})]
    for params in odd:
        send({"method": "notifications/progress", "params": params})
    text(req, "done")
    send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 99}})


H["tools/call"] = tools_call

serve()
