#!/usr/bin/env python3
"""FAULT: Modern server that requests a form with 10,000 fields.

EXPECT: Rejected with a reason; no form is shown.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


FIELDS = {f"f{at}": {"type": "string", "title": "T" * 50, "enum": ["a"] * 5} for at in range(10_000)}
FORM = {"mode": "form", "message": "Please.", "requestedSchema": {"type": "object", "properties": FIELDS}}
INPUT = {"a": {"method": "elicitation/create", "params": FORM}}
H["tools/call"] = lambda req: send(
    {"id": req["id"], "result": {"resultType": "input_required", "inputRequests": INPUT, "requestState": "s"}})

serve()
