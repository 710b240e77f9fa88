#!/usr/bin/env python3
"""FAULT: One of three tools has an inputSchema nested FAULT_DEPTH (default 200) levels deep.

EXPECT: That tool is left out with a reason; the other two work, in both eras.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


DEPTH = int(os.environ.get("FAULT_DEPTH", "200"))
deep = '{"type": "object", "properties": {"a": ' * DEPTH + '{"type": "string"}' + "}}" * DEPTH


def listed(req):
    others = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "other")]
    marked = {"name": "deep", "inputSchema": "@"}
    result = {"tools": [others[0], marked, others[1]], "ttlMs": 0, "cacheScope": "private"}
    if "io.modelcontextprotocol/protocolVersion" in ((req.get("params") or {}).get("_meta") or {}):
        result = {"resultType": "complete", **result}
    line = json.dumps({"jsonrpc": "2.0", "id": req["id"], "result": result}).replace('"@"', deep)
    raw(line.encode() + b"\n")


H["tools/list"] = listed

serve()
