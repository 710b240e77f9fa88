#!/usr/bin/env python3
"""FAULT: Twelve of fourteen tools have an inputSchema or outputSchema that is not a schema for an object.

EXPECT: Each is left out with a reason; the other two work.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


INPUTS = [None, [], "x", True, 7, {}, {"type": "array"}, {"type": ["object"]}]
OUTPUTS = [[], "x", {"$ref": "file:///etc/hostname"}, {"$ref": "#"}]
OBJECT = {"type": "object"}
TOOLS += [{"name": f"i{at}", "inputSchema": schema} for at, schema in enumerate(INPUTS)]
TOOLS += [{"name": f"o{at}", "inputSchema": OBJECT, "outputSchema": schema} for at, schema in enumerate(OUTPUTS)]
TOOLS += [{"name": "last", "inputSchema": OBJECT | {"properties": {"a": None}, "required": [1, {}]}}]

serve()
