#!/usr/bin/env python3
"""FAULT: Modern server whose responses request input in meaningless ways, or have an unknown resultType.

EXPECT: Each call fails at once with a reason.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


ODD = [
    {"resultType": "input_required"},
    {"resultType": "input_required", "inputRequests": []},
    {"resultType": "input_required", "inputRequests": {"a": 7}},
    {"resultType": "input_required", "inputRequests": {"a": {"method": "tools/call", "params": {}}}},
    {"resultType": "input_required", "requestState": {"a": 1}},
    {"resultType": "input_required", "inputRequests": {str(at): {"method": "roots/list"} for at in range(5000)}},
    {"resultType": "strange", "content": []},
    {"resultType": None, "content": []},
]
ANSWERED = []


def tools_call(req):
    ANSWERED.append(req["id"])
    send({"id": req["id"], "result": ODD[(len(ANSWERED) - 1) % len(ODD)]})


H["tools/call"] = tools_call

serve()
