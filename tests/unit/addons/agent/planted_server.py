"""A server with one tool, and defects as long as a file exists: python FILE DEFECT[+DEFECT] FLAG."""

import json
import os
import sys
import time

DEFECTS, FLAG = sys.argv[1].split("+"), sys.argv[2]
IS_BROKEN = os.path.exists(FLAG)


def has(defect: str) -> bool:
    return IS_BROKEN and defect in DEFECTS


def send(message: dict[str, object]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tool() -> dict[str, object]:
    kind = "str" if has("wrong schema type") else "string"
    schema = {"type": "object", "properties": {"city": {"type": kind}}, "required": ["city"]}
    found: dict[str, object] = {"name": "forecast", "description": "Weather.", "inputSchema": schema}
    degrees = {"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]}
    return found | {"outputSchema": degrees}


def result_of(city: str) -> dict[str, object]:
    if has("error without text"):
        return {"content": [], "isError": True}
    if has("slow"):
        time.sleep(2.5)
    value = {"degrees": "warm"} if has("output schema mismatch") else {"degrees": 21}
    return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}


if has("crash at start"):
    raise RuntimeError("FORECAST_TOKEN is not set")
for line in sys.stdin:
    request = json.loads(line)
    method, number = request.get("method"), request.get("id")
    if method == "initialize":
        about = {"name": "planted", "version": "1"}
        found = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
        send({"id": number, "result": found})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": [tool()]}})
    elif method == "tools/call":
        if has("stray output"):
            print("DEBUG: forecast called", flush=True)
            print('{"level": "debug"}', flush=True)
        if has("crash in a call"):
            raise ZeroDivisionError("no stations near this city")
        if has("wrong id"):
            number = str(number)
        if not has("lost answer"):
            send({"id": number, "result": result_of(request["params"]["arguments"]["city"])})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": f"unknown method {method}"}})
