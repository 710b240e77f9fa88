#!/usr/bin/env python3
"""FAULT: tools/call is answered without a result, or with a result that is null, a list, a string or a
number; then with error null.

EXPECT: Each call fails at once.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


SHAPES = [{}, {"result": None}, {"result": []}, {"result": "ok"}, {"result": 5}, {"error": None}]


def tools_call(req):
    send({"id": req["id"], **SHAPES.pop(0)})


H["tools/call"] = tools_call

serve()
