"""The server without a fault. Each file runs it in its own names, and then redefines parts of it."""
import json
import os
import sys
import threading
import time

ERA = os.environ.get("FAULT_ERA", "dual")  # dual | legacy | modern
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
INFO = {"name": "fault-server", "version": "1.0.0"}
CAPS = {"tools": {"listChanged": True}, "logging": {}}
TOOLS = [{"name": "echo", "description": "Echo the text back.",
          "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]
LOCK = threading.Lock()


def raw(data):
    with LOCK:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(msg):
    raw(json.dumps({"jsonrpc": "2.0", **msg}).encode() + b"\n")


def ok(req, result):
    meta = (req.get("params") or {}).get("_meta") or {}
    if "io.modelcontextprotocol/protocolVersion" in meta:
        result = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": INFO}, **result}
    send({"id": req["id"], "result": result})


def fail(req, code, message, **extra):
    send({"id": req["id"], "error": {"code": code, "message": message, **extra}})


def text(req, value):
    ok(req, {"content": [{"type": "text", "text": value}]})


def initialize(req):
    if ERA == "modern":
        return fail(req, -32601, "initialize is gone: this server speaks 2026-07-28 only")
    want = req["params"].get("protocolVersion")
    ok(req, {"protocolVersion": want if want in LEGACY else LEGACY[-1], "capabilities": CAPS, "serverInfo": INFO})


def discover(req):
    if ERA == "legacy":
        return fail(req, -32601, "Method not found")
    ok(req, {"supportedVersions": ["2026-07-28"], "capabilities": CAPS, "ttlMs": 0, "cacheScope": "private"})


def tools_list(req):
    ok(req, {"tools": TOOLS, "ttlMs": 0, "cacheScope": "private"})


def tools_call(req):
    text(req, json.dumps(req["params"].get("arguments")))


H = {"initialize": initialize, "server/discover": discover, "tools/list": tools_list,
     "tools/call": tools_call, "ping": lambda req: ok(req, {}), "logging/setLevel": lambda req: ok(req, {})}


def on_message(msg):
    if "method" in msg and "id" in msg:
        H.get(msg["method"], lambda req: fail(req, -32601, "Method not found"))(msg)


def serve():
    for line in sys.stdin.buffer:
        try:
            msg = json.loads(line)
        except ValueError:
            continue
        on_message(msg)
