#!/usr/bin/env python3
"""FAULT: Four of six tools, a resource, a template, a prompt and a content block each have a value that
cannot be represented: `1e999`, 5,000 digits, `NaN`, or 5,000 levels.

EXPECT: Each entry is left out with a reason; the others work. The content block only fails its call.
"""
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


# --- the fault ---
DEEP = '{"a": ' * 5000 + "1" + "}" * 5000
SCHEMA = '{"type": "object", "properties": {"n": {"default": %s}}}'
ECHO, MORE = ({"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "more"))
PARTS = {"@range": SCHEMA % "1e999", "@digits": SCHEMA % ("7" * 5000), "@nan": "[NaN]", "@deep": DEEP}
CAPS |= {"resources": {}, "prompts": {}}


def damaged(req, result):
    """Answer with each "@name" replaced by the part of that name."""
    modern = "io.modelcontextprotocol/protocolVersion" in ((req.get("params") or {}).get("_meta") or {})
    extra = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}
    line = json.dumps({"jsonrpc": "2.0", "id": req["id"], "result": result | extra})
    for name, part in PARTS.items():
        line = line.replace(f'"{name}"', part)
    raw(line.encode() + b"\n")


def tools_list(req):
    damaged(req, {"tools": [
        ECHO,
        {"name": "range", "inputSchema": "@range"},
        {"name": "digits", "inputSchema": {"type": "object"}, "outputSchema": "@digits"},
        {"name": "nan", "inputSchema": {"type": "object"}, "annotations": {"title": "@nan"}},
        {"name": "deep", "inputSchema": {"type": "object"}, "_meta": "@deep"},
        MORE,
    ]})


def tools_call(req):
    if not (req["params"].get("arguments") or {}).get("part"):
        return text(req, "sound")
    damaged(req, {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "_meta": "@nan"}]})


H |= {
    "tools/list": tools_list,
    "tools/call": tools_call,
    "resources/list": lambda req: damaged(req, {"resources": [
        {"uri": "a:good", "name": "good"}, {"uri": "a:bad", "name": "bad", "size": "@range"}]}),
    "resources/templates/list": lambda req: damaged(req, {"resourceTemplates": [
        {"uriTemplate": "a:{good}", "name": "good"}, {"uriTemplate": "a:{b}", "name": "bad", "_meta": "@deep"}]}),
    "prompts/list": lambda req: damaged(req, {"prompts": [
        {"name": "good"}, {"name": "bad", "description": "@digits"}]}),
}

serve()
