#!/usr/bin/env python3
"""FAULT: tools/call returns FAULT_LISTS (default 5,000,000) empty lists in less than 16 MiB.

EXPECT: The call fails: the result has too many parts to keep in memory; the event loop never stalls (a JSON
parser in C would hold the GIL for seconds).
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def tools_call(req):
    lists = b",".join([b"[]"] * int(os.environ.get("FAULT_LISTS", "5000000")))
    raw(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"a":[' % json.dumps(req["id"]).encode()
        + lists + b"]}}}\n")


H["tools/call"] = tools_call

serve()
