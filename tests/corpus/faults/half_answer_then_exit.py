#!/usr/bin/env python3
"""FAULT: tools/call: writes half of the response, then the process exits with code 0.

EXPECT: The call fails at once because the server exited, not because of the invalid frame.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def tools_call(req):
    raw(b'{"jsonrpc":"2.0","id":%s,"result":{"cont' % json.dumps(req["id"]).encode())
    os._exit(0)


H["tools/call"] = tools_call

serve()
