#!/usr/bin/env python3
"""FAULT: tools/call sends a log notification with 200,000 objects before its response.

EXPECT: The notification is dropped and counted; the response is used.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


def tools_call(req):
    send({"method": "notifications/message", "params": {"level": "info", "data": [{"a": 1}] * 200000}})
    text(req, "after it")


H["tools/call"] = tools_call

serve()
