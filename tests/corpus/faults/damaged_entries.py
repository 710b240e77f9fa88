#!/usr/bin/env python3
"""FAULT: Four of six tools, a resource, a template, a prompt and a content block each have a value that
cannot be represented: `1e999`, 5,000 digits, `NaN`, or 5,000 levels.

EXPECT: Each entry is left out with a reason; the others work. The content block only fails its call.
"""
import os

exec(open(os.path.join(os.path.dirname(__file__), "_server.py")).read())


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
